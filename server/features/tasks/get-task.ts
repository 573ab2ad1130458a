import { z } from 'zod';
import { NOT_FOUND } from '../../errors/errors.ts';
import { rest } from '../../kernel/operation.ts';
import { member } from '../../kernel/procedures.ts';
import { idOf } from '../../kernel/wire/fields.ts';
import { selectVisibleTasks, selectWithCollaborators, taskColumns, toTask } from './queries.ts';
import { Task } from './schemas.ts';

export const getTask = member('tasks')
  .meta(
    rest('GET /api/tasks/{task_id}/', {
      section: 'Additions',
      summary: 'One task of the company',
      tool: { name: 'get_task' },
    }),
  )
  .input(z.object({ task_id: idOf('task') }))
  .output(Task)
  .query(async ({ ctx, input }) => {
    const task = selectVisibleTasks(ctx.db, ctx.caller.companyId)
      .where('t.task_id', '=', input.task_id)
      .select(taskColumns);
    const row = await selectWithCollaborators(ctx.db, task).executeTakeFirstOrThrow(() => NOT_FOUND());
    return toTask(row);
  });
