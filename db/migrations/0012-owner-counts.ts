import { sql, type Kysely } from 'kysely';

/** Tasks are counted for each of their owners too; `owner_id` 0 are everybody's. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table company_counts add column owner_id bigint not null default 0`.execute(db);
  await sql`
    alter table company_counts drop constraint company_counts_pkey,
      add primary key (company_id, kind, owner_id, status, shard)`.execute(db);
  await sql`
    insert into company_counts (company_id, kind, owner_id, status, shard, count)
    select t.company_id, 'task', t.owner_id, t.status, 0, count(*)
    from tasks as t join projects as p on p.company_id = t.company_id and p.project_id = t.project_id
    where t.deleted_at is null and p.deleted_at is null
    group by t.company_id, t.owner_id, t.status`.execute(db);
}
