import { z } from 'zod';
import { NOT_FOUND } from '../../kernel/faults.ts';
import { rest } from '../../kernel/operation.ts';
import { member } from '../../kernel/procedures.ts';
import { id } from '../../kernel/wire.ts';
import { findVisibleTask } from '../tasks/queries.ts';
import { listTaskLogs, toTaskLog } from './queries.ts';
import { TaskLog } from './schemas.ts';

export const listLogsOfTask = member
  .meta(
    rest('GET /taskLogs/task/{taskId}/', {
      section: 'Task logs',
      summary: 'All logs of a task, the newest start first',
      description: 'Read by any active employee of the company. `totalSeconds` is the sum of the logs in the answer.',
    }),
  )
  .input(z.object({ taskId: id }))
  .output(z.object({ taskLogs: z.array(TaskLog), totalSeconds: z.int() }))
  .query(async ({ ctx, input }) => {
    const { companyId } = ctx.caller;
    if (!(await findVisibleTask(ctx.db, companyId, input.taskId))) throw NOT_FOUND();
    const rows = await listTaskLogs(ctx.db, companyId, input.taskId);
    return {
      taskLogs: rows.map(toTaskLog),
      totalSeconds: rows.reduce((total, row) => total + row.duration_seconds, 0),
    };
  });
