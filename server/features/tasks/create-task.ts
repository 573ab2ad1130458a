import { z } from 'zod';
import { inOrder } from '../../../db/pipeline/in-order.ts';
import { notActiveIn, notFoundIn } from '../../errors/errors.ts';
import { rest } from '../../kernel/operation.ts';
import { member } from '../../kernel/procedures.ts';
import { stamps } from '../../kernel/tool.ts';
import { isProject } from '../projects/queries.ts';
import { isActiveEmployee } from '../employees/active-employees.ts';
import { notifyAssigned } from './assignment.ts';
import { setCollaborators } from './collaborators.ts';
import { recordTaskCreated, taskCreated } from './events.ts';
import { getWrittenTask, insertTask, reserveTaskId, toTask } from './queries.ts';
import { Task, taskFields, taskStatus } from './schemas.ts';

export const createTask = member('tasks')
  .meta(
    rest('POST /api/tasks/', {
      section: 'Additions',
      summary: 'Add a task to a project',
      description:
        'Any employee may add one. The owner is the caller unless `owner_id` names another active employee of the company; a new task is `todo` unless `status` says otherwise. Owner and collaborators other than the caller are notified.',
      changes: [taskCreated],
      example: {
        projectId: 7,
        title: 'Cut the gears',
        collaboratorIds: [42],
        dueDate: '2026-03-31',
        estimatedHours: 6,
      },
      tool: { name: 'save_task', leavesOut: stamps },
    }),
  )
  .input(
    z
      .object(taskFields)
      .partial()
      .extend({ projectId: taskFields.projectId, title: taskFields.title, status: taskStatus.default('todo') }),
  )
  .output(Task)
  .mutation(async ({ ctx, input }) => {
    const { db } = ctx;
    const { companyId, employeeId } = ctx.caller;
    const { projectId, owner_id: ownerId = employeeId, collaboratorIds = [] } = input;
    const [isThere, isActive, taskId] = await inOrder(db, [
      () => isProject(db, companyId, projectId),
      // The caller is known to be active.
      () => ownerId === employeeId || isActiveEmployee(db, companyId, ownerId),
      () => reserveTaskId(db),
    ]);
    if (!isThere) throw notFoundIn('projectId');
    if (!isActive) throw notActiveIn('owner_id');

    const now = ctx.services.clock.now();
    const row = {
      company_id: companyId,
      task_id: taskId,
      project_id: projectId,
      title: input.title,
      description: input.description ?? null,
      status: input.status,
      owner_id: ownerId,
      due_date: input.dueDate ?? null,
      estimated_hours: input.estimatedHours ?? null,
      completed_at: input.status === 'done' ? now : null,
      created_at: now,
      updated_at: now,
    };
    const insert = () => insertTask(db, row);
    const notify = () => notifyAssigned(db, { companyId, taskId, actorId: employeeId, ownerId, collaboratorIds }, now);
    if (collaboratorIds.length === 0) {
      const task = toTask({ ...row, collaborators: [] });
      recordTaskCreated(db, ctx.caller, task, now);
      await ctx.finish([insert, notify]);
      return task;
    }
    await insert();
    await setCollaborators(db, { companyId, taskId, employeeIds: collaboratorIds });
    await notify();
    const task = await getWrittenTask(db, companyId, taskId);
    recordTaskCreated(db, ctx.caller, task, now);
    return task;
  });
