import { FORBIDDEN } from '../../errors/errors.ts';
import { rest } from '../../kernel/operation.ts';
import { member } from '../../kernel/procedures.ts';
import { appendEvent } from '../../kernel/append-event.ts';
import { enqueueJob } from '../../kernel/job.ts';
import { streamOf } from './task-stream.ts';
import { countLikes, lockForOwnLike, likeInput, Likes } from './likes.ts';
import { commentLiked } from './jobs.ts';

export const likeComment = member('comments')
  .meta(
    rest('POST /api/like-chat/{employee_id}/{comment_id}/', {
      section: 'Task comments',
      summary: 'Like a comment',
      description:
        'For oneself. Liking twice changes nothing. Its author and the task’s owner and collaborators get a notification, once for each liker.',
      errors: [FORBIDDEN],
    }),
  )
  .input(likeInput)
  .output(Likes)
  .mutation(async ({ ctx, input }) => {
    const { db, caller, services } = ctx;
    const { companyId, employeeId } = caller;
    const { comment_id: commentId, task_id: taskId } = await lockForOwnLike(db, caller, input);
    const now = services.clock.now();
    const liked = await db
      .insertInto('comment_likes')
      .values({ company_id: companyId, comment_id: commentId, employee_id: employeeId, created_at: now })
      .onConflict((conflict) => conflict.columns(['company_id', 'comment_id', 'employee_id']).doNothing())
      .returning('employee_id')
      .executeTakeFirst();
    const payload = { comment_id: commentId, task_id: taskId, employee_id: employeeId };
    const job = {
      dedupeKey: `${commentId} ${employeeId} ${now.toISOString()}`,
      payload: { companyId, commentId, employeeId },
      now,
    };
    const count = () => countLikes(db, companyId, commentId);
    if (!liked) return { likeCount: await count(), likedByMe: true };
    // Likes of one task wait for its stream, and none waits for a round trip of another. Each counts those before it.
    const [, , likeCount] = await ctx.finish([
      () => enqueueJob(db, commentLiked, job),
      () => appendEvent(db, { companyId, stream: streamOf(taskId), type: 'comment.liked', payload, at: now }),
      count,
    ]);
    return { likeCount, likedByMe: true };
  });
