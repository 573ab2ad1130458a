import { sql } from 'kysely';
import { z } from 'zod';
import { paginate } from '../../../db/pipeline/paginate.ts';
import type { Db } from '../../../db/open.ts';
import { NOT_FOUND, notFoundIn } from '../../errors/errors.ts';
import { rest } from '../../kernel/operation.ts';
import { member } from '../../kernel/procedures.ts';
import { readPage } from '../../kernel/wire/read-page.ts';
import { idOf, page, pageOf, text } from '../../kernel/wire/fields.ts';
import { countVisible } from '../projects/counts.ts';
import { findEmployee } from '../employees/queries.ts';
import { isProject } from '../projects/queries.ts';
import { selectVisibleTasks, selectWithCollaborators, taskColumns, toTask } from './queries.ts';
import { Task, taskStatus } from './schemas.ts';
import { countInProject, type Filters } from './task-counts.ts';

const pageSize = 20;

export const listTasks = member
  .meta(
    rest('GET /api/tasks/company/{company_id}/', {
      section: 'Additions',
      summary: 'Tasks of the company, the newest first',
      description:
        'Deleted tasks and those of deleted projects are left out. The filters narrow the list together; `q` is looked for anywhere in the title, without regard to case. 20 a page; a page past the end is an empty one.',
    }),
  )
  .input(
    z.object({
      company_id: idOf('company'),
      projectId: idOf('project').optional(),
      status: taskStatus.optional(),
      owner_id: idOf('employee').optional(),
      q: text({ max: 200 }).optional(),
      page,
    }),
  )
  .output(pageOf(Task))
  .query(async ({ ctx, input }) => {
    const { companyId } = ctx.caller;
    const { projectId, status, owner_id: ownerId, q } = input;
    if (input.company_id !== companyId) throw NOT_FOUND();
    if (projectId !== undefined && !(await isProject(ctx.db, companyId, projectId))) throw notFoundIn('projectId');
    if (ownerId !== undefined && !(await findEmployee(ctx.db, companyId, ownerId))) throw notFoundIn('owner_id');

    const isUnfiltered = [projectId, status, ownerId, q].every((filter) => filter === undefined);
    const matching = selectVisibleTasks(ctx.db, companyId)
      .$if(projectId !== undefined, (query) => query.where('t.project_id', '=', projectId!))
      .$if(status !== undefined, (query) => query.where('t.status', '=', status!))
      .$if(ownerId !== undefined, (query) => query.where('t.owner_id', '=', ownerId!))
      .$if(q !== undefined, (query) => query.where(sql<boolean>`lower(t.title) like lower(${anywhere(q!)})`));
    const readRows = (offset: number) => {
      const chosen = matching
        .select(taskColumns)
        .orderBy('t.task_id', 'desc')
        .$call(paginate({ size: pageSize, offset, isUnfiltered }));
      return selectWithCollaborators(ctx.db, chosen).orderBy('t.task_id', 'desc').execute();
    };
    const readTotal = () =>
      q === undefined ? countByFilter(ctx.db, companyId, { projectId, ownerId, status }) : countOf(matching);
    return readPage({ page: input.page, pageSize, readRows, readTotal, toItem: toTask });
  });

function countByFilter(db: Db, companyId: number, { projectId, ownerId, status }: Filters): Promise<number> {
  return projectId === undefined
    ? countVisible(db, companyId, 'task', { ownerId, status })
    : countInProject(db, companyId, { projectId, ownerId, status });
}

async function countOf(matching: ReturnType<typeof selectVisibleTasks>): Promise<number> {
  const { count } = await matching.select(({ fn }) => fn.countAll<number>().as('count')).executeTakeFirstOrThrow();
  return count;
}

/** A LIKE pattern for a literal text: its wildcards are escaped. */
function anywhere(wanted: string): string {
  return `%${wanted.replaceAll(/[\\%_]/g, '\\$&')}%`;
}
