import { sql } from 'kysely';
import type { Db } from '../../../db/open.ts';
import type { TaskStatus } from './queries.ts';
import { taskStatuses } from './schemas.ts';

/** The filters of tasks. */
export type Filters = {
  projectId?: number;
  ownerId?: number;
  status?: TaskStatus;
};

/** The number of tasks of a project, of one owner or all, of one status or all. */
export async function countInProject(
  db: Db,
  companyId: number,
  { projectId, ownerId, status }: Filters & { projectId: number },
): Promise<number> {
  const counted = sql.join(
    (status ? [status] : taskStatuses).map((name) => sql.ref(`t.${name}`)),
    sql` + `,
  );
  const { count } = await db
    .selectFrom('task_counts as t')
    .innerJoin('projects as p', (join) =>
      join.onRef('p.company_id', '=', 't.company_id').onRef('p.project_id', '=', 't.project_id'),
    )
    .where('t.company_id', '=', companyId)
    .where('t.project_id', '=', projectId)
    .where('p.deleted_at', 'is', null)
    .$if(ownerId !== undefined, (some) => some.where('t.owner_id', '=', ownerId!))
    .select(sql<number>`coalesce(sum(${counted}), 0)::bigint`.as('count'))
    .executeTakeFirstOrThrow();
  return count;
}
