import { z } from 'zod';
import { NOT_FOUND } from '../../kernel/faults.ts';
import { rest } from '../../kernel/operation.ts';
import { member } from '../../kernel/procedures.ts';
import { publish } from '../../kernel/publish.ts';
import { done, id } from '../../kernel/wire.ts';
import { lockComment, removeComment } from './change-comment.ts';
import { streamOf } from './events.ts';
import { NOT_THE_AUTHOR_OR_OWNER } from './faults.ts';

export const deleteComment = member
  .meta(
    rest('DELETE /api/taskchat/{comment_id}/', {
      section: 'Task comments',
      summary: 'Delete a comment',
      description:
        'By its author or the owner of its task. With replies it stays as a tombstone (`isDeleted: true`, `message: null`) until the last of them is deleted.',
      faults: [NOT_THE_AUTHOR_OR_OWNER],
    }),
  )
  .input(z.object({ comment_id: id }))
  .output(done)
  .mutation(async ({ ctx, input }) => {
    const { db, caller, services } = ctx;
    const { companyId, employeeId } = caller;
    const comment = await lockComment(db, companyId, input.comment_id);
    if (!comment) throw NOT_FOUND();
    if (comment.sender_id !== employeeId && comment.task_owner_id !== employeeId) throw NOT_THE_AUTHOR_OR_OWNER();
    for (const gone of await removeComment(db, companyId, comment)) {
      await publish(db, {
        companyId,
        stream: streamOf(comment.task_id),
        type: 'comment.deleted',
        payload: { comment_id: gone.comment_id, task_id: comment.task_id, sender_id: gone.sender_id },
        at: services.clock.now(),
      });
    }
    return { success: true } as const;
  });
