import { z } from 'zod';
import { ADMIN_REQUIRED, FORBIDDEN, NOT_FOUND, notActiveIn } from '../../errors/errors.ts';
import { rest } from '../../kernel/operation.ts';
import { member } from '../../kernel/procedures.ts';
import { stamps } from '../../kernel/tool.ts';
import { idOf, isEmptyUpdate } from '../../kernel/wire/fields.ts';
import { isActiveEmployee } from '../employees/active-employees.ts';
import { projectUpdated, recordProjectUpdate } from './events.ts';
import { notifyNewOwner } from './ownership.ts';
import { budgetColumns, checkMaySetBudget, noteBudget, showProject } from './money.ts';
import { lockProject, mayManage, projectColumns, toProject } from './queries.ts';
import { Project, projectFields, projectStatus } from './schemas.ts';

export const updateProject = member('projects')
  .meta(
    rest('PATCH /api/projects/{project_id}/', {
      section: 'Additions',
      summary: 'Change a project',
      description:
        'For its owner, team leaders and admins. Fields left out keep their values. Lowering `allocatedHours` below what is logged crosses the allocation and notifies the admins; raising it to at least what is logged, or lifting it with `null`, arms that notification again; `budget` does the same for money, and is set by admins. A new owner other than the caller is notified. An owner who has been deactivated may stay, but not become one.',
      errors: [FORBIDDEN, ADMIN_REQUIRED],
      changes: [projectUpdated],
      example: { project_id: 7, allocatedHours: 160, status: 'on_hold' },
      tool: { name: 'save_project', when: 'project_id', leavesOut: ['companyId', ...stamps] },
    }),
  )
  .input(
    z
      .object(projectFields)
      .partial()
      .extend({ project_id: idOf('project'), status: projectStatus.optional() }),
  )
  .output(Project)
  .mutation(async ({ ctx, input }) => {
    const { companyId, employeeId: actorId } = ctx.caller;
    const now = ctx.services.clock.now();
    const project = await lockProject(ctx.db, companyId, input.project_id);
    if (!project) throw NOT_FOUND();
    if (!mayManage(ctx.caller, project)) throw FORBIDDEN();
    if (isEmptyUpdate(input, 'project_id')) return showProject(ctx.db, ctx.caller, project);
    checkMaySetBudget(ctx.caller, input.budget);
    const { owner_id: ownerId = project.owner_id } = input;
    if (ownerId !== project.owner_id && !(await isActiveEmployee(ctx.db, companyId, ownerId)))
      throw notActiveIn('owner_id');

    const row = await ctx.db
      .updateTable('projects')
      .set({
        name: input.name,
        description: input.description,
        allocated_hours: input.allocatedHours,
        owner_id: ownerId,
        billable: input.billable,
        ...budgetColumns(input.budget),
        status: input.status,
        updated_at: now,
      })
      .where('company_id', '=', companyId)
      .where('project_id', '=', project.project_id)
      .returning(projectColumns)
      .executeTakeFirstOrThrow();
    noteBudget(ctx.db, project, row);
    if (input.allocatedHours !== undefined || input.budget !== undefined) ctx.afterCommit(ctx.services.wakeWorker);
    if (ownerId !== project.owner_id) {
      const owned = { companyId, projectId: project.project_id, actorId, ownerId };
      await notifyNewOwner(ctx.db, owned, now);
    }
    recordProjectUpdate(ctx.db, { actorId, before: toProject(project), after: toProject(row), at: now });
    return showProject(ctx.db, ctx.caller, row);
  });
