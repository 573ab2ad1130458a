import { sql } from 'kysely';
import type { Db } from '../../../db/open.ts';

/*
 * How many projects and tasks that can be seen a company has, by status, and how many of the tasks each person owns:
 * kept as they change, in their transaction. `owner_id` 0 stands for everybody, and for projects, which are not counted
 * by owner. Whoever changes one holds its project `for key share`, and whoever deletes a project holds it `for update`,
 * so each counts what the other has left. In the order of locks these counts are the last.
 */

type CountedKind = 'project' | 'task';

/** As many rows are summed where one is read, and as many may be added to at once. */
const shards = 16;
const ownShard = sql`pg_backend_pid() % ${sql.lit(shards)}`;
const adding = sql`
  on conflict (company_id, kind, owner_id, status, shard) do update set count = company_counts.count + excluded.count`;

/** Takes a changed project over into the counts. */
export async function keepProjectCounts(
  db: Db,
  { companyId, before, after }: { companyId: number; before?: string; after?: string },
): Promise<void> {
  if (before === after) return;
  const changes = [...(before ? [{ status: before, by: -1 }] : []), ...(after ? [{ status: after, by: 1 }] : [])];
  await sql`
    insert into company_counts (company_id, kind, status, shard, count)
    select ${companyId}::bigint, 'project', status, ${ownShard}, by
    from unnest(${changes.map(({ status }) => status)}::text[], ${changes.map(({ by }) => by)}::bigint[]) as c (status, by)
    order by status ${adding}`.execute(db);
}

/** Takes changed tasks over into the counts, as far as their projects can be seen. */
export async function keepVisibleTasks(
  db: Db,
  companyId: number,
  changes: readonly { projectId: number; ownerId: number; status: string; by: number }[],
): Promise<void> {
  await sql`
    insert into company_counts (company_id, kind, owner_id, status, shard, count)
    select ${companyId}::bigint, 'task', coalesce(c.owner_id, 0), c.status, ${ownShard}, sum(c.by)
    from unnest(
      ${changes.map(({ projectId }) => projectId)}::bigint[], ${changes.map(({ ownerId }) => ownerId)}::bigint[],
      ${changes.map(({ status }) => status)}::text[], ${changes.map(({ by }) => by)}::bigint[]
    ) as c (project_id, owner_id, status, by)
    join projects as p on p.company_id = ${companyId} and p.project_id = c.project_id
    where p.deleted_at is null
    group by grouping sets ((c.status), (c.status, c.owner_id)) having sum(c.by) <> 0
    order by coalesce(c.owner_id, 0), c.status ${adding}`.execute(db);
}

/** Takes a project that is about to be deleted out of the counts, with its tasks. It must be locked `for update`. */
export async function discountProject(
  db: Db,
  { companyId, projectId, status }: { companyId: number; projectId: number; status: string },
): Promise<void> {
  await sql`
    insert into company_counts (company_id, kind, owner_id, status, shard, count)
    select ${companyId}::bigint, kind, owner_id, status, ${ownShard}, by
    from (
      select 'project' as kind, 0::bigint as owner_id, ${status}::text as status, -1::bigint as by
      union all
      select 'task', coalesce(t.owner_id, 0), x.status, -sum(x.count)
      from task_counts as t
      cross join lateral (values
        ('todo', t.todo), ('in_progress', t.in_progress), ('in_review', t.in_review), ('done', t.done)
      ) as x (status, count)
      where t.company_id = ${companyId} and t.project_id = ${projectId}
      group by grouping sets ((x.status), (x.status, t.owner_id)) having sum(x.count) <> 0
    ) as gone
    order by kind, owner_id, status ${adding}`.execute(db);
}

/** How many of a kind there are, of one status or of all; of tasks, those of one owner or of everybody. */
export async function countKept(
  db: Db,
  companyId: number,
  kind: CountedKind,
  { status, ownerId = 0 }: { status?: string | undefined; ownerId?: number | undefined },
): Promise<number> {
  const { count } = await db
    .selectFrom('company_counts')
    .where('company_id', '=', companyId)
    .where('kind', '=', kind)
    .where('owner_id', '=', ownerId)
    .$if(status !== undefined, (some) => some.where('status', '=', status!))
    .select(sql<number>`coalesce(sum(count), 0)::bigint`.as('count'))
    .executeTakeFirstOrThrow();
  return count;
}

/** Counts all projects and tasks of a company anew. Nobody else may be at work in it. */
export async function recountCompany(db: Db, companyId: number): Promise<void> {
  await db.deleteFrom('company_counts').where('company_id', '=', companyId).execute();
  await sql`
    insert into company_counts (company_id, kind, owner_id, status, shard, count)
    select ${companyId}::bigint, kind, owner_id, status, 0, count from (${countedAnew(companyId)}) as counted`.execute(
    db,
  );
}

/** What should be kept: (kind, owner_id, status, count). */
export const countedAnew = (companyId: number) => sql`
  select 'project' as kind, 0::bigint as owner_id, status, count(*) as count
  from projects where company_id = ${companyId} and deleted_at is null group by status
  union all
  select 'task', coalesce(t.owner_id, 0), t.status, count(*)
  from tasks as t join projects as p on p.company_id = t.company_id and p.project_id = t.project_id
  where t.company_id = ${companyId} and t.deleted_at is null and p.deleted_at is null
  group by grouping sets ((t.status), (t.status, t.owner_id))`;
