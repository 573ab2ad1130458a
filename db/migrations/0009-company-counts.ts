import { sql, type Kysely } from 'kysely';

/** How many projects and tasks a company has of each status, kept as they change: the totals of its pages. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // In shards that are summed when read: in one row, all who add a task at once would wait for each other's commits.
  await sql`
    create table company_counts (
      company_id bigint not null references companies on delete cascade,
      kind text not null check (kind in ('project', 'task')),
      status text not null,
      shard integer not null,
      count bigint not null,
      primary key (company_id, kind, status, shard)
    )`.execute(db);
  await sql`
    insert into company_counts
    select company_id, 'project', status, 0, count(*) from projects where deleted_at is null group by company_id, status
    union all
    select t.company_id, 'task', t.status, 0, count(*)
    from tasks as t join projects as p on p.company_id = t.company_id and p.project_id = t.project_id
    where t.deleted_at is null and p.deleted_at is null
    group by t.company_id, t.status`.execute(db);
}
