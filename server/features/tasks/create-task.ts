import { z } from 'zod';
import { notFoundIn } from '../../errors/errors.ts';
import { rest } from '../../kernel/operation.ts';
import { member } from '../../kernel/procedures.ts';
import { isProject } from '../projects/queries.ts';
import { isActiveEmployee } from '../employees/active-employees.ts';
import { notifyAssigned } from './assignment.ts';
import { setCollaborators } from './collaborators.ts';
import { getWrittenTask } from './queries.ts';
import { Task, taskFields, taskStatus } from './schemas.ts';

export const createTask = member
  .meta(
    rest('POST /api/tasks/', {
      section: 'Additions',
      summary: 'Add a task to a project',
      description:
        'Any employee may add one. The owner is the caller unless `owner_id` names another active employee of the company; a new task is `todo` unless `status` says otherwise. Owner and collaborators other than the caller are notified.',
      example: {
        projectId: 7,
        title: 'Cut the gears',
        collaboratorIds: [42],
        dueDate: '2026-03-31',
        estimatedHours: 6,
      },
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
    const { companyId, employeeId } = ctx.caller;
    const { owner_id: ownerId = employeeId, collaboratorIds = [] } = input;
    if (!(await isProject(ctx.db, companyId, input.projectId))) throw notFoundIn('projectId');
    if (ownerId !== employeeId && !(await isActiveEmployee(ctx.db, companyId, ownerId))) throw notFoundIn('owner_id');

    const now = ctx.services.clock.now();
    const { task_id: taskId } = await ctx.db
      .insertInto('tasks')
      .values({
        company_id: companyId,
        project_id: input.projectId,
        title: input.title,
        description: input.description ?? null,
        status: input.status,
        owner_id: ownerId,
        due_date: input.dueDate ?? null,
        estimated_hours: input.estimatedHours ?? null,
        completed_at: input.status === 'done' ? now : null,
        created_at: now,
        updated_at: now,
      })
      .returning('task_id')
      .executeTakeFirstOrThrow();
    if (collaboratorIds.length > 0) await setCollaborators(ctx.db, { companyId, taskId, employeeIds: collaboratorIds });
    const people = { companyId, taskId, actorId: employeeId, ownerId, collaboratorIds };
    await notifyAssigned(ctx.db, people, now);
    return getWrittenTask(ctx.db, companyId, taskId);
  });
