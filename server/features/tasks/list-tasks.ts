import { sql } from 'kysely';
import { z } from 'zod';
import { paginate } from '../../../db/pipeline/paginate.ts';
import type { Db } from '../../../db/open.ts';
import { NOT_FOUND, notFoundIn } from '../../errors/errors.ts';
import { rest } from '../../kernel/operation.ts';
import { member } from '../../kernel/procedures.ts';
import { stamps } from '../../kernel/tool.ts';
import { cursorField, cursorNumber, nextCursor, readCursor, toCursor } from '../../kernel/wire/cursor.ts';
import { readPage } from '../../kernel/wire/read-page.ts';
import { idOf, page, pageOf, searchText } from '../../kernel/wire/fields.ts';
import { day } from '../../kernel/wire/moments.ts';
import { countVisible } from '../projects/counts.ts';
import { findEmployee } from '../employees/queries.ts';
import { isProject } from '../projects/queries.ts';
import { selectVisibleTasks, selectWithCollaborators, taskColumns, toTask } from './queries.ts';
import { Task, taskStatus } from './schemas.ts';
import { countInProject, type Filters } from './task-counts.ts';
import { findTitled, hasTitle, newestSearched } from './titles.ts';

const pageSize = 20;
/** Matches of `q` and `dueBy` are counted up to this number, so that the cost does not grow with the tasks. */
const countedMax = 1_000;
const position = z.tuple([cursorNumber]);

export const listTasks = member('tasks')
  .meta(
    rest('GET /api/tasks/company/{company_id}/', {
      section: 'Additions',
      summary: 'Tasks of the company, the newest first',
      description: `Deleted tasks and those of deleted projects are left out. The filters narrow the list together; \`q\` is looked for anywhere in the title, without regard to case, and where it has no three letters in a row in the newest ${newestSearched.toLocaleString('en')} tasks. 20 a page; a page past the end is an empty one. Matches of \`q\` and \`dueBy\` are counted up to 1,000 (\`isTotalCapped\`), and pages of them by number end at 100: \`cursor\`, the \`nextCursor\` of the page before, leads to the end of any list at the same cost a page.`,
      tool: { name: 'list_tasks', leavesOut: ['description', ...stamps, 'page', 'pageSize', 'totalPages'] },
    }),
  )
  .input(
    z.object({
      company_id: idOf('company'),
      projectId: idOf('project').optional(),
      status: taskStatus.optional(),
      owner_id: idOf('employee').optional(),
      q: searchText.optional(),
      dueBy: day
        .meta({ description: 'Tasks due on this day or before it that are not done', examples: ['2026-03-31'] })
        .optional(),
      page,
      cursor: cursorField,
    }),
  )
  .output(
    pageOf(Task).extend({
      isTotalCapped: z.boolean().meta({
        description: `Whether there are more than \`total\` matches of \`q\` or \`dueBy\`, of which ${countedMax} are counted`,
        examples: [false],
      }),
      nextCursor,
    }),
  )
  .query(async ({ ctx, input }) => {
    const { companyId } = ctx.caller;
    const { projectId, status, owner_id: ownerId, q, dueBy } = input;
    if (input.company_id !== companyId) throw NOT_FOUND();
    if (projectId !== undefined && !(await isProject(ctx.db, companyId, projectId))) throw notFoundIn('projectId');
    if (ownerId !== undefined && !(await findEmployee(ctx.db, companyId, ownerId))) throw notFoundIn('owner_id');

    const before = readCursor(input.cursor, position)?.[0];
    const isOnlyTitled = [projectId, status, ownerId, dueBy].every((filter) => filter === undefined);
    const isUnfiltered = isOnlyTitled && q === undefined && before === undefined;
    const titled = q === undefined ? undefined : await findTitled(ctx.db, companyId, q);
    const matching = selectVisibleTasks(ctx.db, companyId)
      .$if(projectId !== undefined, (query) => query.where('t.project_id', '=', projectId!))
      .$if(status !== undefined, (query) => query.where('t.status', '=', status!))
      .$if(ownerId !== undefined, (query) => query.where('t.owner_id', '=', ownerId!))
      .$if(titled !== undefined, (query) => query.where((eb) => hasTitle(eb, titled!, q!)))
      // As the index of open tasks by due day says it.
      .$if(dueBy !== undefined, (query) =>
        query.where('t.due_date', '<=', dueBy!).where('t.status', '<>', sql.lit('done')),
      );
    const readRows = (offset: number) => {
      const chosen = matching
        .$if(before !== undefined, (query) => query.where('t.task_id', '<', before!))
        .select(taskColumns)
        .orderBy('t.task_id', 'desc')
        .$call(paginate({ size: pageSize + 1, offset, isUnfiltered }));
      return selectWithCollaborators(ctx.db, chosen).orderBy('t.task_id', 'desc').execute();
    };
    let isTotalCapped = false;
    const readTotal = async () => {
      if (q === undefined && dueBy === undefined)
        return countByFilter(ctx.db, companyId, { projectId, ownerId, status });
      const known = titled?.by === 'title' && isOnlyTitled ? titled.atLeast : 0;
      const count = known > countedMax ? known : await countOf(ctx.db, matching);
      isTotalCapped = count > countedMax;
      return Math.min(count, countedMax);
    };
    const wanted = { page: before === undefined ? input.page : 1, pageSize, readRows, readTotal, toItem: toTask };
    const { results, ...answer } = await readPage(wanted);
    const next = results.length > pageSize ? toCursor(results[pageSize - 1]!._id) : null;
    return { ...answer, page: input.page, results: results.slice(0, pageSize), isTotalCapped, nextCursor: next };
  });

function countByFilter(db: Db, companyId: number, { projectId, ownerId, status }: Filters): Promise<number> {
  return projectId === undefined
    ? countVisible(db, companyId, 'task', { ownerId, status })
    : countInProject(db, companyId, { projectId, ownerId, status });
}

/** One more than are counted where there are more. */
async function countOf(db: Db, matching: ReturnType<typeof selectVisibleTasks>): Promise<number> {
  const counted = matching.select('t.task_id').limit(countedMax + 1);
  const { count } = await db
    .selectFrom(counted.as('counted'))
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count;
}
