import { z } from 'zod';
import { inOrder } from '../../../db/pipeline/in-order.ts';
import { FORBIDDEN, NOT_FOUND, PERIOD_LOCKED, validationFailed } from '../../errors/errors.ts';
import { rest } from '../../kernel/operation.ts';
import { member } from '../../kernel/procedures.ts';
import { idOf } from '../../kernel/wire/fields.ts';
import { moment } from '../../kernel/wire/moments.ts';
import { lockVisibleTasks } from '../tasks/queries.ts';
import { listExceededProjects } from './allocation.ts';
import { hoursOf } from '../projects/hours.ts';
import { entries, findEntryIssues, partition, refuseLocked } from './bulk-entries.ts';
import { recordTaskLogCreated, taskLogCreated } from '../tasks/task-log-events.ts';
import { insertTaskLogs, toChargedTaskLog, toTaskLog } from './queries.ts';
import { isActiveEmployee } from '../employees/active-employees.ts';
import { ChargedTaskLog } from '../tasks/task-log.ts';
import { listWorkDays } from './work-days.ts';
import { checkMayWrite } from './writers.ts';

export const bulkCreateTaskLogs = member('time')
  .meta(
    rest('POST /tasklogs/bulk/create/{user_id}/', {
      section: 'Task logs',
      summary: 'Log much time at once',
      description:
        'The body is the array itself: 1 to 1,000 entries, all of one active employee. Written by that employee, a team leader or an admin.\n\nAn entry with the task, employee and start of a stored log, or of an earlier entry, is skipped and reported in `skipped`. Where one entry is invalid, nothing is stored, and `issues` names each that is by its index, as in `[2, "endTime"]`. `created` is in the order of the entries.\n\n`days` holds each day that an entry touches, also one that was skipped, in the time zone of the company: the employee’s working hours of the whole day, whatever they were logged by, to two decimals. Logs across midnight are split, and no minute counts twice. `exceededProjects` are those of the entries’ projects that have more hours logged now than allocated; where this request crosses an allocation, every active admin is notified, once for each crossing.\n\nWhere an entry is on a locked day, nothing is stored: 409 `PERIOD_LOCKED`, and `issues` names each such entry by its index.',
      errors: [FORBIDDEN, PERIOD_LOCKED],
      changes: [taskLogCreated],
      bodyField: 'entries',
      example: {
        user_id: 7,
        entries: [
          { taskId: 12, userId: 7, startTime: '2026-03-02T09:00:00Z', endTime: '2026-03-02T12:15:00Z' },
          {
            taskId: 12,
            userId: 7,
            startTime: '2026-03-02T13:00:00Z',
            endTime: '2026-03-02T17:30:00Z',
            description: 'Cut the gears',
            manualAdd: false,
          },
        ],
      },
    }),
  )
  .input(z.object({ user_id: idOf('employee'), entries }))
  .output(
    z.object({
      created: z.array(ChargedTaskLog),
      skipped: z.array(
        z.object({
          index: z.int(),
          taskId: idOf('task'),
          userId: idOf('employee'),
          startTime: moment,
          reason: z.literal('duplicate'),
        }),
      ),
      days: z.array(z.object({ date: z.string().meta({ format: 'date' }), workingHours: z.number() })),
      exceededProjects: z.array(
        z.object({ projectId: idOf('project'), allocatedHours: z.number(), loggedHours: z.number() }),
      ),
    }),
  )
  .mutation(async ({ ctx, input }) => {
    const { db, caller, services } = ctx;
    const { companyId } = caller;
    const { user_id: employeeId, entries } = input;
    const now = services.clock.now();
    const taskIds = entries.map(({ taskId }) => taskId);
    const [isActive, locked] = await inOrder(db, [
      // The caller is known to be active.
      () => employeeId === caller.employeeId || isActiveEmployee(db, companyId, employeeId),
      () => lockVisibleTasks(db, companyId, taskIds),
    ]);
    if (!isActive) throw NOT_FOUND();
    checkMayWrite(caller, employeeId);

    const tasks = new Map(locked.map((task) => [task.task_id, task]));
    const issues = await findEntryIssues(db, { companyId, employeeId, entries, tasks, now });
    if (issues.length > 0) throw validationFailed(issues);

    const logs = entries.map(({ userId, description = null, ...entry }) => {
      const { project_id: projectId, billable } = tasks.get(entry.taskId)!;
      return { ...entry, employeeId: userId, projectId, description, billable: entry.billable ?? billable };
    });
    const made = await insertTaskLogs(db, { companyId, logs, now }).catch((error: unknown) =>
      refuseLocked(error, entries),
    );
    const periods = logs.map(({ startTime: start, endTime: end }) => ({ employeeId, start, end }));
    const projectIds = [...new Set(logs.map(({ projectId }) => projectId))];
    const [days, exceeded] = await inOrder(db, [
      () => listWorkDays(db, companyId, periods),
      () => listExceededProjects(db, companyId, projectIds),
    ]);
    ctx.afterCommit(services.wakeWorker);

    const { created: rows, skipped } = partition(entries, made);
    for (const row of rows)
      recordTaskLogCreated(db, { companyId, actorId: caller.employeeId, taskLog: toTaskLog(row), at: now });
    return {
      created: rows.map((row) => toChargedTaskLog(row, caller)),
      skipped,
      days: days.map(({ day, working_seconds }) => ({ date: day, workingHours: hoursOf(working_seconds) })),
      exceededProjects: exceeded,
    };
  });
