import { z } from 'zod';
import { paginate } from '../../../db/pipeline/paginate.ts';
import { NOT_FOUND } from '../../errors/errors.ts';
import { rest } from '../../kernel/operation.ts';
import { member } from '../../kernel/procedures.ts';
import { readPage } from '../../kernel/wire/read-page.ts';
import { idOf, page, pageOf } from '../../kernel/wire/fields.ts';
import { countVisible } from './counts.ts';
import { toProjects } from './money.ts';
import { fromProjects, projectColumns } from './queries.ts';
import { Project, projectStatus } from './schemas.ts';

const pageSize = 20;

export const listProjects = member('projects')
  .meta(
    rest('GET /api/projects/company/{company_id}/', {
      section: 'Additions',
      summary: 'Projects of the company, the newest first',
      description: 'Deleted projects are left out. 20 a page; a page past the end is an empty one.',
    }),
  )
  .input(z.object({ company_id: idOf('company'), page, status: projectStatus.optional() }))
  .output(pageOf(Project))
  .query(async ({ ctx, input }) => {
    const { companyId } = ctx.caller;
    if (input.company_id !== companyId) throw NOT_FOUND();
    const chosen = fromProjects(ctx.db, companyId).$if(input.status !== undefined, (query) =>
      query.where('status', '=', input.status!),
    );
    const found = await readPage({
      page: input.page,
      pageSize,
      readRows: (offset) =>
        chosen
          .select(projectColumns)
          .orderBy('project_id', 'desc')
          .$call(paginate({ size: pageSize, offset, isUnfiltered: input.status === undefined }))
          .execute(),
      readTotal: () => countVisible(ctx.db, companyId, 'project', input),
      toItem: (row) => row,
    });
    return { ...found, results: await toProjects(ctx.db, ctx.caller, found.results) };
  });
