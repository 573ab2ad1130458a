import { z } from 'zod';
import { FORBIDDEN, NOT_FOUND } from '../../errors/errors.ts';
import { rest } from '../../kernel/operation.ts';
import { member } from '../../kernel/procedures.ts';
import { recordChange } from '../../kernel/change-event.ts';
import { changeStream } from '../../kernel/change-streams.ts';
import { done, idOf } from '../../kernel/wire/fields.ts';
import { projectDeleted } from './events.ts';
import { lockProjectToDelete, mayManage, toProject } from './queries.ts';

export const deleteProject = member('projects')
  .meta(
    rest('DELETE /api/projects/{project_id}/', {
      section: 'Additions',
      summary: 'Delete a project with its tasks',
      description:
        'For its owner, team leaders and admins. The project and its tasks are not found from then on; the time that people logged on them stays in their totals and in their periods, so locked days do not stand against it.',
      errors: [FORBIDDEN],
      changes: [projectDeleted],
      example: { project_id: 7 },
      tool: { name: 'delete', when: 'project_id' },
    }),
  )
  .input(z.object({ project_id: idOf('project') }))
  .output(done)
  .mutation(async ({ ctx, input }) => {
    const { companyId, employeeId: actorId } = ctx.caller;
    const now = ctx.services.clock.now();
    const project = await lockProjectToDelete(ctx.db, companyId, input.project_id);
    if (!project) throw NOT_FOUND();
    if (!mayManage(ctx.caller, project)) throw FORBIDDEN();
    await ctx.db
      .updateTable('projects')
      .set({ deleted_at: now })
      .where('company_id', '=', companyId)
      .where('project_id', '=', project.project_id)
      .execute();
    const { project_id: projectId } = project;
    recordChange(ctx.db, projectDeleted, {
      companyId,
      // Also the end of its own stream, whose subscribers need not follow that of the company.
      streams: [changeStream.projects(companyId), changeStream.project(projectId)],
      payload: { actorId, projectId, project: toProject(project) },
      at: now,
    });
    return { success: true } as const;
  });
