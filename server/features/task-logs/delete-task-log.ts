import { z } from 'zod';
import { FORBIDDEN, NOT_FOUND } from '../../errors/errors.ts';
import { rest } from '../../kernel/operation.ts';
import { member } from '../../kernel/procedures.ts';
import { done, idOf } from '../../kernel/wire/fields.ts';
import { lockTaskLog } from './queries.ts';
import { checkMayWrite } from './writers.ts';

export const deleteTaskLog = member
  .meta(
    rest('DELETE /api/tasklogs/delete/{pk}/', {
      section: 'Task logs',
      summary: 'Delete a task log',
      description:
        'By the employee whose time it is, a team leader or an admin. Its time leaves every total; a project that then no longer exceeds its allocated hours is notified of again when it does.',
      errors: [FORBIDDEN],
    }),
  )
  .input(z.object({ pk: idOf('taskLog') }))
  .output(done)
  .mutation(async ({ ctx, input }) => {
    const { db, caller } = ctx;
    const { companyId } = caller;
    const before = await lockTaskLog(db, companyId, input.pk);
    if (!before) throw NOT_FOUND();
    checkMayWrite(caller, before.employee_id);
    await db
      .deleteFrom('task_logs')
      .where('company_id', '=', companyId)
      .where('task_log_id', '=', before.task_log_id)
      .execute();
    return { success: true } as const;
  });
