import { z } from 'zod';
import { containsText } from '../../../db/pipeline/anywhere.ts';
import { paginate } from '../../../db/pipeline/paginate.ts';
import { NOT_FOUND } from '../../errors/errors.ts';
import { rest } from '../../kernel/operation.ts';
import { member } from '../../kernel/procedures.ts';
import { stamps } from '../../kernel/tool.ts';
import { readPage } from '../../kernel/wire/read-page.ts';
import { idOf, page, pageOf, searchText } from '../../kernel/wire/fields.ts';
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
      description:
        'Deleted projects are left out. The filters narrow the list together; `q` is looked for anywhere in the name, without regard to case. 20 a page; a page past the end is an empty one.',
      tool: {
        name: 'list_projects',
        leavesOut: ['description', 'companyId', ...stamps, 'page', 'pageSize', 'totalPages'],
      },
    }),
  )
  .input(z.object({ company_id: idOf('company'), status: projectStatus.optional(), q: searchText.optional(), page }))
  .output(pageOf(Project))
  .query(async ({ ctx, input }) => {
    const { companyId } = ctx.caller;
    if (input.company_id !== companyId) throw NOT_FOUND();
    const { status, q } = input;
    const chosen = fromProjects(ctx.db, companyId)
      .$if(status !== undefined, (query) => query.where('status', '=', status!))
      .$if(q !== undefined, (query) => query.where(({ ref }) => containsText(ref('name'), q!)));
    const found = await readPage({
      page: input.page,
      pageSize,
      readRows: (offset) =>
        chosen
          .select(projectColumns)
          .orderBy('project_id', 'desc')
          .$call(paginate({ size: pageSize, offset, isUnfiltered: status === undefined && q === undefined }))
          .execute(),
      readTotal: () => (q === undefined ? countVisible(ctx.db, companyId, 'project', { status }) : countOf(chosen)),
      toItem: (row) => row,
    });
    return { ...found, results: await toProjects(ctx.db, ctx.caller, found.results) };
  });

async function countOf(chosen: ReturnType<typeof fromProjects>): Promise<number> {
  const { count } = await chosen.select(({ fn }) => fn.countAll<number>().as('count')).executeTakeFirstOrThrow();
  return count;
}
