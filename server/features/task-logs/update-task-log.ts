import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { Db } from '../../../db/open.ts';
import { ADMIN_REQUIRED, FORBIDDEN, NOT_FOUND, notActiveIn, notFoundIn, PERIOD_LOCKED } from '../../errors/errors.ts';
import { rest } from '../../kernel/operation.ts';
import { member } from '../../kernel/procedures.ts';
import { stamps } from '../../kernel/tool.ts';
import { idOf, isEmptyUpdate } from '../../kernel/wire/fields.ts';
import { timestamp } from '../../kernel/wire/moments.ts';
import { lockVisibleTask } from '../tasks/queries.ts';
import { DUPLICATE_TASK_LOG } from './errors.ts';
import { recordTaskLogUpdate, taskLogUpdated } from '../tasks/task-log-events.ts';
import {
  columns,
  lockTaskLog,
  refuseDuplicate,
  toChargedTaskLog,
  toTaskLog,
  type NewTaskLog,
  type TaskLogRow,
} from './queries.ts';
import { isActiveEmployee } from '../employees/active-employees.ts';
import { ChargedTaskLog } from '../tasks/task-log.ts';
import { overrideFields, overrideLockedDays } from './override.ts';
import { logDescription } from './schemas.ts';
import { checkTimes } from './times.ts';
import { checkMayWrite } from './writers.ts';

export const updateTaskLog = member('time')
  .meta(
    rest('PUT /tasklogs/{taskLogId}/', {
      section: 'Task logs',
      summary: 'Change a task log',
      description:
        'Each field is optional, and what is absent stays; where none has another value nothing changes. The caller must be allowed to write both for the employee whose time it was and for the one whose time it becomes. A changed log counts as entered by hand from then on (`manualAdd: true`). A log that moves to another task, person or project takes its time along. Its rate stays, unless its task, person, project or day changes, or whether it is billable. The logs of a deleted task are gone with it. Neither the days of before nor those of after may be locked: 409 `PERIOD_LOCKED` names them.',
      errors: [DUPLICATE_TASK_LOG, FORBIDDEN, ADMIN_REQUIRED, PERIOD_LOCKED],
      changes: [taskLogUpdated],
      example: { taskLogId: 31, endTime: '2026-03-02T11:00:00Z', description: 'Wrote and proved the first program' },
      tool: { name: 'log_time', when: 'log_id', leavesOut: ['charge', ...stamps] },
    }),
  )
  .input(
    z.object({
      taskLogId: idOf('taskLog'),
      startTime: timestamp.optional(),
      endTime: timestamp.optional(),
      description: logDescription,
      billable: z.boolean().optional().meta({ description: 'Whether it is charged' }),
      taskId: idOf('task').optional(),
      userId: idOf('employee').optional(),
      ...overrideFields,
    }),
  )
  .output(ChargedTaskLog)
  .mutation(async ({ ctx, input }) => {
    const { db, caller, services } = ctx;
    const { companyId } = caller;
    const now = services.clock.now();
    const before = await lockTaskLog(db, companyId, input.taskLogId);
    if (!before) throw NOT_FOUND();
    const {
      taskId = before.task_id,
      userId: employeeId = before.employee_id,
      startTime = before.start_time,
      endTime = before.end_time,
      description = before.description,
      billable = before.billable,
    } = input;
    checkMayWrite(caller, before.employee_id);
    if (isEmptyUpdate(input, 'taskLogId', 'override', 'reason')) return toChargedTaskLog(before, caller);
    checkMayWrite(caller, employeeId);
    const blame = input.endTime === undefined ? 'start' : 'end';
    checkTimes({ start: startTime, end: endTime }, now, { start: ['startTime'], end: ['endTime'], blame });

    const task = taskId === before.task_id ? before : await lockVisibleTask(db, companyId, taskId);
    if (!task) throw notFoundIn('taskId');
    if (employeeId !== before.employee_id && !(await isActiveEmployee(db, companyId, employeeId)))
      throw notActiveIn('userId');

    const { project_id: projectId } = task;
    const log = { taskId, employeeId, projectId, startTime, endTime, description, manualAdd: true, billable };
    if (isSame(before, log)) return toChargedTaskLog(before, caller);
    await overrideLockedDays(db, caller, input);
    const row = await storeTaskLog(db, { companyId, taskLogId: before.task_log_id, log, now });
    ctx.afterCommit(services.wakeWorker);
    recordTaskLogUpdate(db, caller, { before: toTaskLog(before), after: toTaskLog(row), at: now });
    return toChargedTaskLog(row, caller);
  });

/** Whether a change says what is stored already. It does not make the log of a timer one that was entered by hand. */
function isSame(row: TaskLogRow, log: NewTaskLog): boolean {
  const { manualAdd: _, ...changeable } = log;
  return isDeepStrictEqual(changeable, {
    taskId: row.task_id,
    employeeId: row.employee_id,
    projectId: row.project_id,
    startTime: row.start_time,
    endTime: row.end_time,
    description: row.description,
    billable: row.billable,
  });
}

async function storeTaskLog(
  db: Db,
  { companyId, taskLogId, log, now }: { companyId: number; taskLogId: number; log: NewTaskLog; now: Date },
): Promise<TaskLogRow> {
  return db
    .updateTable('task_logs')
    .set({
      task_id: log.taskId,
      employee_id: log.employeeId,
      project_id: log.projectId,
      start_time: log.startTime,
      end_time: log.endTime,
      description: log.description,
      manual_add: log.manualAdd,
      billable: log.billable,
      updated_at: now,
    })
    .where('company_id', '=', companyId)
    .where('task_log_id', '=', taskLogId)
    .returning(columns)
    .executeTakeFirstOrThrow()
    .catch(refuseDuplicate);
}
