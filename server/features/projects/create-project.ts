import { z } from 'zod';
import { ADMIN_REQUIRED, notActiveIn } from '../../errors/errors.ts';
import { rest } from '../../kernel/operation.ts';
import { member } from '../../kernel/procedures.ts';
import { stamps } from '../../kernel/tool.ts';
import { recordChange } from '../../kernel/change-event.ts';
import { changeStream } from '../../kernel/change-streams.ts';
import { isActiveEmployee } from '../employees/active-employees.ts';
import { projectCreated } from './events.ts';
import { notifyNewOwner } from './ownership.ts';
import { budgetColumns, checkMaySetBudget, noteBudget, showProject } from './money.ts';
import { projectColumns, toProject } from './queries.ts';
import { Project, projectFields } from './schemas.ts';

export const createProject = member('projects')
  .meta(
    rest('POST /api/projects/', {
      section: 'Additions',
      summary: 'Start a project',
      description:
        'Any employee may start one. The owner is the caller unless `owner_id` names another active employee of the company. A new project is `active`; without `allocatedHours` its time is not limited. A `budget` is set by admins.',
      errors: [ADMIN_REQUIRED],
      changes: [projectCreated],
      example: { name: 'Difference Engine', description: 'Second design', allocatedHours: 120 },
      tool: { name: 'save_project', leavesOut: ['companyId', ...stamps] },
    }),
  )
  .input(z.object(projectFields).partial().extend({ name: projectFields.name }))
  .output(Project)
  .mutation(async ({ ctx, input }) => {
    const { companyId, employeeId } = ctx.caller;
    checkMaySetBudget(ctx.caller, input.budget);
    const { owner_id: ownerId = employeeId } = input;
    if (ownerId !== employeeId && !(await isActiveEmployee(ctx.db, companyId, ownerId))) throw notActiveIn('owner_id');
    const now = ctx.services.clock.now();
    const row = await ctx.db
      .insertInto('projects')
      .values({
        company_id: companyId,
        name: input.name,
        description: input.description ?? null,
        allocated_hours: input.allocatedHours ?? null,
        owner_id: ownerId,
        billable: input.billable ?? true,
        ...budgetColumns(input.budget),
        created_at: now,
        updated_at: now,
      })
      .returning(projectColumns)
      .executeTakeFirstOrThrow();
    noteBudget(ctx.db, undefined, row);
    const owned = { companyId, projectId: row.project_id, actorId: employeeId, ownerId };
    await notifyNewOwner(ctx.db, owned, now);
    const project = toProject(row);
    recordChange(ctx.db, projectCreated, {
      companyId,
      streams: [changeStream.projects(companyId)],
      payload: { actorId: employeeId, projectId: project._id, project },
      at: now,
    });
    return showProject(ctx.db, ctx.caller, row);
  });
