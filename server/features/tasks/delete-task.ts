import { z } from 'zod';
import { FORBIDDEN, NOT_FOUND } from '../../errors/errors.ts';
import { rest } from '../../kernel/operation.ts';
import { member } from '../../kernel/procedures.ts';
import { recordChange } from '../../kernel/change-event.ts';
import { changeStream } from '../../kernel/change-streams.ts';
import { done, idOf } from '../../kernel/wire/fields.ts';
import { inEvent, taskDeleted } from './events.ts';
import { lockTaskWithRecord, mayManageTask } from './queries.ts';

export const deleteTask = member('tasks')
  .meta(
    rest('DELETE /api/tasks/{task_id}/', {
      section: 'Additions',
      summary: 'Delete a task',
      description:
        'For its owner, the owner of its project, team leaders and admins. The task is not found from then on; the time logged on it stays in the totals of its project, of the people who logged it, and of their periods, so locked days do not stand against it.',
      errors: [FORBIDDEN],
      changes: [taskDeleted],
      example: { task_id: 12 },
      tool: { name: 'delete', when: 'task_id' },
    }),
  )
  .input(z.object({ task_id: idOf('task') }))
  .output(done)
  .mutation(async ({ ctx, input }) => {
    const { companyId, employeeId: actorId } = ctx.caller;
    const now = ctx.services.clock.now();
    const task = await lockTaskWithRecord(ctx.db, companyId, input.task_id);
    if (!task) throw NOT_FOUND();
    if (!mayManageTask(ctx.caller, task)) throw FORBIDDEN();
    await ctx.db
      .updateTable('tasks')
      .set({ deleted_at: now })
      .where('company_id', '=', companyId)
      .where('task_id', '=', task.task_id)
      .execute();
    recordChange(ctx.db, taskDeleted, {
      companyId,
      streams: [changeStream.project(task.project_id)],
      payload: { actorId, taskId: task.task_id, task: inEvent(task.record) },
      at: now,
    });
    return { success: true } as const;
  });
