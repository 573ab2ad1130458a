import { sql, type Kysely } from 'kysely';

/**
 * Corrects the counts of projects: those that a company was imported with as deleted were counted as visible. The difference is added,
 * not the right count written: one statement sees a change with what it counts, so nodes may change both at the same time.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    insert into company_counts (company_id, kind, owner_id, status, shard, count)
    select company_id, 'project', 0, status, 0, sum(count)
    from (
      select company_id, status, count(*) as count from projects where deleted_at is null group by company_id, status
      union all
      select company_id, status, -count from company_counts where kind = 'project'
    ) as missing
    group by company_id, status having sum(count) <> 0
    order by company_id, status
    on conflict (company_id, kind, owner_id, status, shard) do update set count = company_counts.count + excluded.count`.execute(
    db,
  );
}
