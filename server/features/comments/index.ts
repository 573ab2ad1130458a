import { router } from '../../kernel/trpc.ts';
import { createComment } from './create-comment.ts';
import { deleteComment } from './delete-comment.ts';
import { updateComment } from './update-comment.ts';
import { likeComment } from './like-comment.ts';
import { listComments } from './list-comments.ts';
import { onTask } from './on-task.ts';
import { unlikeComment } from './unlike-comment.ts';

export const comments = router({
  listByTask: listComments,
  create: createComment,
  update: updateComment,
  delete: deleteComment,
  like: likeComment,
  unlike: unlikeComment,
  onTask,
});
