import { z } from 'zod';
import { NOT_FOUND } from '../../errors/errors.ts';
import { stream } from '../../kernel/procedures.ts';
import { lastEventId } from '../../kernel/streams.ts';
import { idOf } from '../../kernel/wire/fields.ts';
import { findVisibleTask } from '../tasks/queries.ts';
import { CommentEvent, taskStream } from './task-stream.ts';

export const onTask = stream('comments')
  .meta({
    section: 'Task comments',
    errors: [NOT_FOUND],
    events: {
      schema: CommentEvent,
      summary: 'Comments on a task',
      description:
        'Comments written, edited, deleted, liked and seen by anyone, the subscriber included. It ends with NOT_FOUND when the task is deleted.',
    },
  })
  .input(z.object({ taskId: idOf('task'), lastEventId }))
  .subscription(async ({ ctx, input }) => {
    if (!(await findVisibleTask(ctx.db, ctx.caller.companyId, input.taskId))) throw NOT_FOUND();
    return ctx.subscribe(taskStream, input.taskId, input.lastEventId);
  });
