import { z } from 'zod';
import { NOT_FOUND } from '../../errors/errors.ts';
import { rest } from '../../kernel/operation.ts';
import { member } from '../../kernel/procedures.ts';
import { idOf } from '../../kernel/wire/fields.ts';
import { showProject } from './money.ts';
import { findProject } from './queries.ts';
import { Project } from './schemas.ts';

export const getProject = member('projects')
  .meta(
    rest('GET /api/projects/{project_id}/', {
      section: 'Additions',
      summary: 'One project of the company',
      tool: { name: 'list_projects', when: 'project_id', leavesOut: ['companyId'] },
    }),
  )
  .input(z.object({ project_id: idOf('project') }))
  .output(Project)
  .query(async ({ ctx, input }) => {
    const row = await findProject(ctx.db, ctx.caller.companyId, input.project_id);
    if (!row) throw NOT_FOUND();
    return showProject(ctx.db, ctx.caller, row);
  });
