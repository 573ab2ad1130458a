import { z } from 'zod';
import { ADMIN_REQUIRED, FORBIDDEN, NOT_FOUND, PERIOD_LOCKED } from '../../errors/errors.ts';
import { rest } from '../../kernel/operation.ts';
import { member } from '../../kernel/procedures.ts';
import { recordChange } from '../../kernel/change-event.ts';
import { changeStream } from '../../kernel/change-streams.ts';
import { done, idOf } from '../../kernel/wire/fields.ts';
import { taskLogDeleted } from '../tasks/task-log-events.ts';
import { overrideFields, overrideLockedDays } from './override.ts';
import { lockTaskLog, toTaskLog } from './queries.ts';
import { checkMayWrite } from './writers.ts';

export const deleteTaskLog = member('time')
  .meta(
    rest('DELETE /api/tasklogs/delete/{pk}/', {
      section: 'Task logs',
      summary: 'Delete a task log',
      description:
        'By the employee whose time it is, a team leader or an admin. Its time leaves every total; a project that then no longer exceeds its allocated hours notifies its admins again when it does. A log of a locked day stays: 409 `PERIOD_LOCKED` names it. The body is optional.',
      errors: [FORBIDDEN, ADMIN_REQUIRED, PERIOD_LOCKED],
      changes: [taskLogDeleted],
      example: { override: false },
      tool: { name: 'delete', when: 'log_id' },
    }),
  )
  .input(z.object({ pk: idOf('taskLog'), ...overrideFields }))
  .output(done)
  .mutation(async ({ ctx, input }) => {
    const { db, caller } = ctx;
    const { companyId, employeeId: actorId } = caller;
    const before = await lockTaskLog(db, companyId, input.pk);
    if (!before) throw NOT_FOUND();
    checkMayWrite(caller, before.employee_id);
    await overrideLockedDays(db, caller, { ...input, taskLogId: before.task_log_id });
    await db
      .deleteFrom('task_logs')
      .where('company_id', '=', companyId)
      .where('task_log_id', '=', before.task_log_id)
      .execute();
    recordChange(db, taskLogDeleted, {
      companyId,
      streams: [changeStream.project(before.project_id)],
      payload: { actorId, taskLogId: before.task_log_id, taskLog: toTaskLog(before) },
      at: ctx.services.clock.now(),
    });
    return { success: true } as const;
  });
