import { z } from 'zod';
import { NOT_FOUND } from '../../errors/errors.ts';
import { rest } from '../../kernel/operation.ts';
import { member } from '../../kernel/procedures.ts';
import { appendEvent } from '../../kernel/append-event.ts';
import { done, idOf } from '../../kernel/wire/fields.ts';
import { lockComment, deleteThread } from './change-comment.ts';
import { auditComment, contentOf } from './audited-comment.ts';
import { streamOf } from './task-stream.ts';
import { NOT_THE_AUTHOR_OR_OWNER } from './errors.ts';

export const deleteComment = member('comments')
  .meta(
    rest('DELETE /api/taskchat/{comment_id}/', {
      section: 'Task comments',
      summary: 'Delete a comment',
      description:
        'By its author or the owner of its task. With replies it stays as a tombstone (`isDeleted: true`, `message: null`) until the last of them is deleted.',
      errors: [NOT_THE_AUTHOR_OR_OWNER],
      tool: { name: 'delete', when: 'comment_id' },
    }),
  )
  .input(z.object({ comment_id: idOf('comment') }))
  .output(done)
  .mutation(async ({ ctx, input }) => {
    const { db, caller, services } = ctx;
    const { companyId, employeeId } = caller;
    const comment = await lockComment(db, companyId, input.comment_id);
    if (!comment) throw NOT_FOUND();
    if (comment.sender_id !== employeeId && comment.task_owner_id !== employeeId) throw NOT_THE_AUTHOR_OR_OWNER();
    for (const gone of await deleteThread(db, companyId, comment)) {
      const isTombstone = gone.comment_id !== comment.comment_id;
      const content = isTombstone ? { message: null, image: null, senderId: gone.sender_id } : {};
      const change = { commentId: gone.comment_id, before: { ...contentOf(comment), ...content }, after: null };
      auditComment({ db, tokens: services.tokens, companyId }, 'deleted', change);
      await appendEvent(db, {
        companyId,
        stream: streamOf(comment.task_id),
        type: 'comment.deleted',
        payload: {
          comment_id: gone.comment_id,
          task_id: comment.task_id,
          sender_id: gone.sender_id,
          employee_id: employeeId,
        },
        at: services.clock.now(),
      });
    }
    return { success: true } as const;
  });
