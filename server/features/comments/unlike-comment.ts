import { FORBIDDEN } from '../../errors/errors.ts';
import { rest } from '../../kernel/operation.ts';
import { member } from '../../kernel/procedures.ts';
import { appendEvent } from '../../kernel/append-event.ts';
import { streamOf } from './task-stream.ts';
import { countLikes, lockForOwnLike, likeInput, Likes } from './likes.ts';

export const unlikeComment = member('comments')
  .meta(
    rest('POST /api/dislike-chat/{employee_id}/{comment_id}/', {
      section: 'Task comments',
      summary: 'Take one’s like of a comment back',
      description: 'For oneself. Taking back what was not given changes nothing.',
      errors: [FORBIDDEN],
    }),
  )
  .input(likeInput)
  .output(Likes)
  .mutation(async ({ ctx, input }) => {
    const { db, caller, services } = ctx;
    const { companyId, employeeId } = caller;
    const { comment_id: commentId, task_id: taskId } = await lockForOwnLike(db, caller, input);
    const taken = await db
      .deleteFrom('comment_likes')
      .where('company_id', '=', companyId)
      .where('comment_id', '=', commentId)
      .where('employee_id', '=', employeeId)
      .returning('employee_id')
      .executeTakeFirst();
    const at = services.clock.now();
    const payload = { comment_id: commentId, task_id: taskId, employee_id: employeeId };
    const count = () => countLikes(db, companyId, commentId);
    if (!taken) return { likeCount: await count(), likedByMe: false };
    // In one round trip, as in like-comment.ts.
    const [, likeCount] = await ctx.finish([
      () => appendEvent(db, { companyId, stream: streamOf(taskId), type: 'comment.unliked', payload, at }),
      count,
    ]);
    return { likeCount, likedByMe: false };
  });
