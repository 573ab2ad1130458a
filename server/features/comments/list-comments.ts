import { z } from 'zod';
import type { Db } from '../../../db/open.ts';
import { NOT_FOUND } from '../../kernel/faults.ts';
import { rest } from '../../kernel/operation.ts';
import { member } from '../../kernel/procedures.ts';
import { publish } from '../../kernel/publish.ts';
import { transact } from '../../kernel/transact.ts';
import { id } from '../../kernel/wire.ts';
import { findVisibleTask } from '../tasks/queries.ts';
import { streamOf } from './events.ts';
import { insertViews } from './queries.ts';
import { listRecords } from './records.ts';
import { Comment } from './schemas.ts';
import { assembleThreads, levelsMax } from './threads.ts';

export const listComments = member
  .meta(
    rest('GET /api/tasks/chat/{task_id}/', {
      section: 'Task comments',
      summary: 'All comments of a task, as threads',
      description: `Oldest first on every level. Replies nest as deep as the talk goes, down to level ${levelsMax} of the answer: deeper ones stand beside the one they answer, and \`reply_to\` tells to whom. A deleted comment that has replies stays as a tombstone: \`isDeleted: true\`, \`message: null\`. Reading marks the comments of others as seen by the caller, after the answer: \`seenBy\` shows who had seen them before.`,
    }),
  )
  .input(z.object({ task_id: id }))
  .output(z.object({ comments: z.array(Comment) }))
  .query(async ({ ctx, input }) => {
    const { companyId, employeeId: viewerId } = ctx.caller;
    const { background, clock, settings } = ctx.services;
    const { task_id: taskId } = input;
    const comments = await listRecords(ctx.db, companyId, { taskId }, { viewerId, settings });
    if (comments.length === 0 && !(await findVisibleTask(ctx.db, companyId, taskId))) throw NOT_FOUND();

    const unseen = comments.filter(
      ({ sender, seenBy }) => sender._id !== viewerId && !seenBy.some((view) => view.employee_id === viewerId),
    );
    if (unseen.length > 0) {
      const commentIds = unseen.map((comment) => comment._id);
      const now = clock.now();
      background.run('comments-seen', () =>
        transact(ctx.services, (db) => see(db, companyId, { taskId, viewerId, commentIds, now })),
      );
    }
    return { comments: assembleThreads(comments) };
  });

/** How many views one event tells of. */
const viewsMax = 1_000;

async function see(
  db: Db,
  companyId: number,
  { taskId, viewerId, commentIds, now }: { taskId: number; viewerId: number; commentIds: number[]; now: Date },
): Promise<void> {
  const seen = await insertViews(db, companyId, { viewerId, commentIds, now });
  for (let from = 0; from < seen.length; from += viewsMax) {
    const payload = { comment_ids: seen.slice(from, from + viewsMax), task_id: taskId, employee_id: viewerId };
    await publish(db, { companyId, stream: streamOf(taskId), type: 'comment.seen', payload, at: now });
  }
}
