import { z } from 'zod';
import { FORBIDDEN, NOT_FOUND } from '../../kernel/faults.ts';
import { rest } from '../../kernel/operation.ts';
import { member } from '../../kernel/procedures.ts';
import { done, id } from '../../kernel/wire.ts';
import { lockTaskLog } from './queries.ts';
import { checkMayWrite } from './writers.ts';

export const deleteTaskLog = member
  .meta(
    rest('DELETE /api/tasklogs/delete/{pk}/', {
      section: 'Task logs',
      summary: 'Delete a task log',
      description:
        'By the employee whose time it is, a team leader or an admin. Its time leaves every total; a project that no longer exceeds its allocated hours may exceed them anew.',
      faults: [FORBIDDEN],
    }),
  )
  .input(z.object({ pk: id }))
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
