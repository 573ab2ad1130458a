import { z } from 'zod';
import { NOT_FOUND } from '../../errors/errors.ts';
import { streamed } from '../../kernel/wire/json-stream.ts';
import { rest } from '../../kernel/operation.ts';
import { member } from '../../kernel/procedures.ts';
import { stamps } from '../../kernel/tool.ts';
import { idOf } from '../../kernel/wire/fields.ts';
import { findVisibleTask } from '../tasks/queries.ts';
import { listNewestTaskLogs, taskLogsInBatches, toChargedTaskLog, type TaskLogRow } from './queries.ts';
import { ChargedTaskLog } from '../tasks/task-log.ts';

export const listLogsOfTask = member('time')
  .meta(
    rest('GET /taskLogs/task/{taskId}/', {
      section: 'Task logs',
      summary: 'All logs of a task, the newest start first',
      description:
        'Read by any active employee of the company. All logs are answered, however many there are: a long answer is sent while it is read, with the logs of the moment when it began. `totalSeconds` is the sum of the logs in the answer.',
      isLongRead: true,
      tool: { name: 'get_task', include: 'logs', leavesOut: ['charge', 'taskId', 'projectId', ...stamps] },
    }),
  )
  .input(z.object({ taskId: idOf('task') }))
  .output(z.object({ taskLogs: z.array(ChargedTaskLog), totalSeconds: z.int() }))
  .query(async ({ ctx, input }) => {
    const { db, caller } = ctx;
    const { companyId } = caller;
    const { taskId } = input;
    if (!(await findVisibleTask(db, companyId, taskId))) throw NOT_FOUND();
    const rows = await listNewestTaskLogs(db, { companyId, taskId, limit: shortMax + 1 });
    let totalSeconds = 0;
    const add = (some: TaskLogRow[]) => {
      for (const row of some) totalSeconds += row.duration_seconds;
      return some.map((row) => toChargedTaskLog(row, caller));
    };
    if (rows.length <= shortMax) {
      const taskLogs = add(rows);
      return { taskLogs, totalSeconds };
    }
    async function* batches() {
      for await (const some of taskLogsInBatches(db, companyId, taskId)) yield add(some);
    }
    return streamed({
      field: 'taskLogs',
      item: ChargedTaskLog,
      batches: batches(),
      others: () => ({ totalSeconds }),
    });
  });

/** Up to this many logs, each with up to 10,000 characters, are answered at once. */
const shortMax = 250;
