import { router } from '../../kernel/trpc.ts';
import { createComment } from './create-comment.ts';
import { listComments } from './list-comments.ts';

export const comments = router({ listByTask: listComments, create: createComment });
