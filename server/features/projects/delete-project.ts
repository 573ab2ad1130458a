import { z } from 'zod';
import { FORBIDDEN, NOT_FOUND } from '../../errors/errors.ts';
import { rest } from '../../kernel/operation.ts';
import { member } from '../../kernel/procedures.ts';
import { done, idOf } from '../../kernel/wire/fields.ts';
import { lockProjectToDelete, mayManage } from './queries.ts';

export const deleteProject = member
  .meta(
    rest('DELETE /api/projects/{project_id}/', {
      section: 'Additions',
      summary: 'Delete a project with its tasks',
      description:
        'For its owner, team leaders and admins. The project and its tasks are not found from then on; the time that people logged on them stays in their totals.',
      errors: [FORBIDDEN],
      example: { project_id: 7 },
    }),
  )
  .input(z.object({ project_id: idOf('project') }))
  .output(done)
  .mutation(async ({ ctx, input }) => {
    const { companyId } = ctx.caller;
    const project = await lockProjectToDelete(ctx.db, companyId, input.project_id);
    if (!project) throw NOT_FOUND();
    if (!mayManage(ctx.caller, project)) throw FORBIDDEN();
    await ctx.db
      .updateTable('projects')
      .set({ deleted_at: ctx.services.clock.now() })
      .where('company_id', '=', companyId)
      .where('project_id', '=', project.project_id)
      .execute();
    return { success: true } as const;
  });
