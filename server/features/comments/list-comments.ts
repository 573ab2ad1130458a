import { z } from 'zod';
import { NOT_FOUND } from '../../errors/errors.ts';
import { streamed } from '../../kernel/wire/json-stream.ts';
import { rest } from '../../kernel/operation.ts';
import { member } from '../../kernel/procedures.ts';
import { idOf } from '../../kernel/wire/fields.ts';
import { findVisibleTask } from '../tasks/queries.ts';
import { markSeen } from './seen.ts';
import { leveledComments, threadPieces } from './long-comments.ts';
import { listFewComments } from './comment-view.ts';
import { besideTheComment, Comment, CommentNow } from './schemas.ts';
import { assembleThreads, levelsMax } from './threads.ts';

export const listComments = member('comments')
  .meta(
    rest('GET /api/tasks/chat/{task_id}/', {
      section: 'Task comments',
      summary: 'All comments of a task, as threads',
      description: `Oldest first on every level. Replies nest as deep as the discussion goes, down to level ${levelsMax} of the answer: deeper ones are siblings of the one they answer, and \`reply_to\` names it. A deleted comment that has replies stays as a tombstone: \`isDeleted: true\`, \`message: null\`. All comments are answered, however many there are: a long answer is sent while it is read, with the comments of its start, each with its content at the time when it is sent. Reading marks the comments of others as seen by the caller, after the answer: \`seenBy\` shows who had seen them before.`,
      tool: { name: 'get_task', include: 'comments', richText: ['message'], leavesOut: besideTheComment },
    }),
  )
  .input(z.object({ task_id: idOf('task') }))
  .output(z.object({ comments: z.array(Comment) }))
  .query(async ({ ctx, input }) => {
    const { db, caller, services } = ctx;
    const { companyId, employeeId: viewerId } = caller;
    const { task_id: taskId } = input;
    const viewer = { viewerId, settings: services.settings };
    const comments = await listFewComments(db, companyId, taskId, viewer);
    if (!comments) {
      const unseen: number[] = [];
      async function* batches() {
        try {
          for await (const batch of leveledComments(db, companyId, taskId, viewer)) {
            const read = batch.map(({ comment }) => comment);
            unseen.push(...unseenBy(viewerId, read));
            yield batch;
          }
        } finally {
          markSeen(services, { companyId, taskId, viewerId }, unseen);
        }
      }
      async function* withoutLevels() {
        for await (const batch of batches()) yield batch.map(({ comment }) => comment);
      }
      return streamed({ field: 'comments', item: CommentNow, batches: withoutLevels() }, threadPieces(batches()));
    }
    if (comments.length === 0 && !(await findVisibleTask(db, companyId, taskId))) throw NOT_FOUND();
    markSeen(services, { companyId, taskId, viewerId }, unseenBy(viewerId, comments));
    return { comments: assembleThreads(comments) };
  });

const unseenBy = (viewerId: number, comments: z.input<typeof Comment>[]): number[] =>
  comments
    .filter(({ sender, isDeleted }) => sender._id !== viewerId && !isDeleted)
    .filter(({ seenBy }) => !seenBy.some((view) => view.employee_id === viewerId))
    .map((comment) => comment._id);
