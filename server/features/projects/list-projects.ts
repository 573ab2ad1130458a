import { z } from 'zod';
import { cutPage } from '../../../db/cut-page.ts';
import { NOT_FOUND } from '../../kernel/faults.ts';
import { rest } from '../../kernel/operation.ts';
import { member } from '../../kernel/procedures.ts';
import { readPage } from '../../kernel/read-page.ts';
import { id, page, pageOf } from '../../kernel/wire.ts';
import { countVisible } from './counts.ts';
import { fromProjects, projectColumns, toProject } from './queries.ts';
import { Project, projectStatus } from './schemas.ts';

const pageSize = 20;

export const listProjects = member
  .meta(
    rest('GET /api/projects/company/{company_id}/', {
      section: 'Additions',
      summary: 'Projects of the company, the newest first',
      description: 'Deleted projects are left out. 20 a page; a page past the end is an empty one.',
    }),
  )
  .input(z.object({ company_id: id, page, status: projectStatus.optional() }))
  .output(pageOf(Project))
  .query(async ({ ctx, input }) => {
    const { companyId } = ctx.caller;
    if (input.company_id !== companyId) throw NOT_FOUND();
    const chosen = fromProjects(ctx.db, companyId).$if(input.status !== undefined, (query) =>
      query.where('status', '=', input.status!),
    );
    return readPage({
      page: input.page,
      pageSize,
      readRows: (skipped) =>
        chosen
          .select(projectColumns)
          .orderBy('project_id', 'desc')
          .$call(cutPage({ size: pageSize, skipped, isWhole: input.status === undefined }))
          .execute(),
      readTotal: () => countVisible(ctx.db, companyId, 'project', input),
      toItem: toProject,
    });
  });
