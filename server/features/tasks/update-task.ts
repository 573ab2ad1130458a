import { z } from 'zod';
import { FORBIDDEN, NOT_FOUND, notActiveIn, notFoundIn, PERIOD_LOCKED } from '../../errors/errors.ts';
import { rest } from '../../kernel/operation.ts';
import { member } from '../../kernel/procedures.ts';
import { stamps } from '../../kernel/tool.ts';
import { idOf, isEmptyUpdate } from '../../kernel/wire/fields.ts';
import { isProject } from '../projects/queries.ts';
import { isActiveEmployee } from '../employees/active-employees.ts';
import { notifyAssigned } from './assignment.ts';
import { setCollaborators } from './collaborators.ts';
import { recordTaskUpdate, taskUpdated } from './events.ts';
import { getWrittenTask, lockTaskWithRecord, mayManageTask } from './queries.ts';
import { Task, taskFields } from './schemas.ts';

export const updateTask = member('tasks')
  .meta(
    rest('PATCH /api/tasks/{task_id}/', {
      section: 'Additions',
      summary: 'Change a task',
      description:
        'Any employee may, but for `owner_id` and `projectId`: only its owner, the owner of the project that it is in, team leaders and admins hand a task over or move it, and they may move it into any project of the company, as anyone may add a task there. Fields left out keep their values; `collaboratorIds` replaces them all. Becoming `done` sets `completedAt`, leaving it clears that. A task that moves to another project takes its logged time along, which may cross that project’s allocation; one with time on locked days does not move (409 `PERIOD_LOCKED`). A new owner and new collaborators other than the caller are notified. An owner or collaborator who has been deactivated may stay, but not become one.',
      errors: [FORBIDDEN, PERIOD_LOCKED],
      changes: [taskUpdated],
      example: { task_id: 12, status: 'done' },
      tool: { name: 'save_task', when: 'task_id', leavesOut: stamps },
    }),
  )
  .input(
    z
      .object(taskFields)
      .partial()
      .extend({ task_id: idOf('task') }),
  )
  .output(Task)
  .mutation(async ({ ctx, input }) => {
    const { db } = ctx;
    const { companyId } = ctx.caller;
    const now = ctx.services.clock.now();
    const task = await lockTaskWithRecord(db, companyId, input.task_id);
    if (!task) throw NOT_FOUND();
    if (isEmptyUpdate(input, 'task_id')) return task.record;
    const { projectId = task.project_id, owner_id: ownerId = task.owner_id, status = task.status } = input;
    const isMoving = projectId !== task.project_id;
    if ((isMoving || ownerId !== task.owner_id) && !mayManageTask(ctx.caller, task))
      throw FORBIDDEN({ detail: 'Only the owner of a task or of its project, a team leader or an admin may do this.' });
    if (isMoving && !(await isProject(db, companyId, projectId))) throw notFoundIn('projectId');
    if (ownerId !== task.owner_id && !(await isActiveEmployee(db, companyId, ownerId))) throw notActiveIn('owner_id');

    await db
      .updateTable('tasks')
      .set({
        project_id: projectId,
        title: input.title,
        description: input.description,
        owner_id: ownerId,
        status,
        due_date: input.dueDate,
        estimated_hours: input.estimatedHours,
        completed_at: status === 'done' ? (task.completed_at ?? now) : null,
        updated_at: now,
      })
      .where('company_id', '=', companyId)
      .where('task_id', '=', task.task_id)
      .execute();
    const collaboratorIds = input.collaboratorIds
      ? await setCollaborators(db, { companyId, taskId: task.task_id, employeeIds: input.collaboratorIds })
      : [];
    const newOwnerId = ownerId === task.owner_id ? null : ownerId;
    const people = {
      companyId,
      taskId: task.task_id,
      actorId: ctx.caller.employeeId,
      ownerId: newOwnerId,
      collaboratorIds,
    };
    await notifyAssigned(db, people, now);
    if (isMoving) {
      // New logs of the task wait for its lock, so all logs are moved.
      await db
        .updateTable('task_logs')
        .set({ project_id: projectId, updated_at: now })
        .where('company_id', '=', companyId)
        .where('task_id', '=', task.task_id)
        .execute();
      ctx.afterCommit(ctx.services.wakeWorker);
    }
    const after = await getWrittenTask(db, companyId, task.task_id);
    recordTaskUpdate(db, ctx.caller, { before: task.record, after, at: now });
    return after;
  });
