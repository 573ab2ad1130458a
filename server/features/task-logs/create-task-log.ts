import { z } from 'zod';
import { FORBIDDEN, notFoundIn } from '../../kernel/faults.ts';
import { rest } from '../../kernel/operation.ts';
import { member } from '../../kernel/procedures.ts';
import { id, timestamp } from '../../kernel/wire.ts';
import { lockVisibleTask } from '../tasks/queries.ts';
import { DUPLICATE_TASK_LOG } from './faults.ts';
import { insertTaskLog, isActiveEmployee, refuseDuplicate, toTaskLog } from './queries.ts';
import { logDescription, TaskLog } from './schemas.ts';
import { checkTimes } from './times.ts';
import { checkMayWrite } from './writers.ts';

export const createTaskLog = member
  .meta(
    rest('POST /tasklog/create/', {
      section: 'Task logs',
      summary: 'Log time on a task',
      description:
        'Written by the employee whose time it is, a team leader or an admin, for an active employee. It ends after it starts, lasts at most 24 hours and is at most a day in the future. Milliseconds are kept. It counts as entered by hand (`manualAdd: true`). Where it takes its project over the allocated hours, every active admin is notified, once for each crossing.',
      faults: [DUPLICATE_TASK_LOG, FORBIDDEN],
      example: {
        task_id: 12,
        employee_id: 7,
        start_time: '2026-03-02T09:00:00Z',
        end_time: '2026-03-02T10:30:00Z',
        description: 'Wrote the first program',
      },
    }),
  )
  .input(
    z.object({
      task_id: id,
      employee_id: id,
      start_time: timestamp,
      end_time: timestamp,
      description: logDescription,
    }),
  )
  .output(TaskLog)
  .mutation(async ({ ctx, input }) => {
    const { db, caller, services } = ctx;
    const { companyId } = caller;
    const { task_id: taskId, employee_id: employeeId, start_time: startTime, end_time: endTime } = input;
    const now = services.clock.now();
    checkTimes({ start: startTime, end: endTime }, now, { start: ['start_time'], end: ['end_time'] });
    checkMayWrite(caller, employeeId);

    const [task, isActive] = await Promise.all([
      lockVisibleTask(db, companyId, taskId),
      // Whoever calls is an active employee.
      employeeId === caller.employeeId || isActiveEmployee(db, companyId, employeeId),
    ]);
    if (!task) throw notFoundIn('task_id');
    if (!isActive) throw notFoundIn('employee_id');

    const { project_id: projectId } = task;
    const description = input.description ?? null;
    const log = { taskId, employeeId, projectId, startTime, endTime, description, manualAdd: true };
    const made = await ctx.finish(() => insertTaskLog(db, { companyId, log, now })).catch(refuseDuplicate);
    ctx.afterCommit(services.wakeDeliveries);
    return toTaskLog(made);
  });
