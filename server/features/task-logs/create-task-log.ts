import { z } from 'zod';
import { inOrder } from '../../../db/pipeline/in-order.ts';
import { ADMIN_REQUIRED, FORBIDDEN, notActiveIn, notFoundIn, PERIOD_LOCKED } from '../../errors/errors.ts';
import { rest } from '../../kernel/operation.ts';
import { member } from '../../kernel/procedures.ts';
import { stamps } from '../../kernel/tool.ts';
import { idOf, ownId } from '../../kernel/wire/fields.ts';
import { timestamp } from '../../kernel/wire/moments.ts';
import { lockVisibleTask } from '../tasks/queries.ts';
import { DUPLICATE_TASK_LOG } from './errors.ts';
import { recordTaskLogCreated, taskLogCreated } from '../tasks/task-log-events.ts';
import { insertTaskLog, refuseDuplicate, reserveTaskLogId, toChargedTaskLog, toNewRow, toTaskLog } from './queries.ts';
import { isActiveEmployee } from '../employees/active-employees.ts';
import { ChargedTaskLog } from '../tasks/task-log.ts';
import { overrideFields, overrideLockedDays } from './override.ts';
import { logBillable, logDescription } from './schemas.ts';
import { checkTimes } from './times.ts';
import { checkMayWrite } from './writers.ts';

export const createTaskLog = member('time')
  .meta(
    rest('POST /tasklog/create/', {
      section: 'Task logs',
      summary: 'Log time on a task',
      description:
        'Written by the employee whose time it is, a team leader or an admin, for an active employee. It ends after it starts, lasts at most 24 hours and is at most a day in the future. Milliseconds are kept. It counts as entered by hand (`manualAdd: true`). Where it takes its project over the allocated hours, every active admin is notified, once for each crossing. Days of a period that was handed in, or that is too old, are locked: 409 `PERIOD_LOCKED` names them.',
      errors: [DUPLICATE_TASK_LOG, FORBIDDEN, ADMIN_REQUIRED, PERIOD_LOCKED],
      changes: [taskLogCreated],
      example: {
        task_id: 12,
        employee_id: 7,
        start_time: '2026-03-02T09:00:00Z',
        end_time: '2026-03-02T10:30:00Z',
        description: 'Wrote the first program',
      },
      tool: { name: 'log_time', leavesOut: ['charge', ...stamps] },
    }),
  )
  .input(
    z.object({
      task_id: idOf('task'),
      employee_id: ownId(),
      start_time: timestamp,
      end_time: timestamp,
      description: logDescription,
      billable: logBillable,
      ...overrideFields,
    }),
  )
  .output(ChargedTaskLog)
  .mutation(async ({ ctx, input }) => {
    const { db, caller, services } = ctx;
    const { companyId } = caller;
    const { task_id: taskId, employee_id: employeeId, start_time: startTime, end_time: endTime } = input;
    const now = services.clock.now();
    checkTimes({ start: startTime, end: endTime }, now, { start: ['start_time'], end: ['end_time'] });
    checkMayWrite(caller, employeeId);

    const [task, isActive, taskLogId] = await inOrder(db, [
      () => lockVisibleTask(db, companyId, taskId),
      // The caller is known to be active.
      () => employeeId === caller.employeeId || isActiveEmployee(db, companyId, employeeId),
      () => reserveTaskLogId(db),
    ]);
    if (!task) throw notFoundIn('task_id');
    if (!isActive) throw notActiveIn('employee_id');

    const { project_id: projectId } = task;
    const { billable = task.billable } = input;
    const description = input.description ?? null;
    const log = { taskId, employeeId, projectId, startTime, endTime, description, manualAdd: true, billable };
    const row = toNewRow(taskLogId, log, now);
    await overrideLockedDays(db, caller, { ...input, taskLogId });
    recordTaskLogCreated(db, { companyId, actorId: caller.employeeId, taskLog: toTaskLog(row), at: now });
    const [made] = await ctx
      .finish([() => insertTaskLog(db, { ...row, company_id: companyId })])
      .catch(refuseDuplicate);
    ctx.afterCommit(services.wakeWorker);
    return toChargedTaskLog(made, caller);
  });
