import { sql, type Kysely } from 'kysely';

/**
 * `tasks_titled` answers the numbers of the tasks whose title has a part, from the index over all parts of three letters (0003-work.ts):
 * `rows_max` at most, and null for a part that many of the newest titles have, because the index would read all tasks with it.
 *
 * It runs as the owner of the tables: behind a policy PostgreSQL would not use the index, because LIKE is not leakproof. So it checks
 * the company itself. It returns numbers alone, whose rows are read under the policy. The last statement may use bitmaps only: the planner
 * would rather read a large company from its end, through all of it where the part is rare. It may still choose the bitmap of all rows
 * of the company, where it expects the index over parts to cost more.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create or replace function tasks_titled(of_company bigint, pattern text, rows_max integer) returns bigint[]
    stable language plpgsql security definer
    set search_path = pg_catalog, public set enable_seqscan = on set enable_indexscan = on set max_parallel_workers_per_gather = 0 set work_mem = '64MB' set jit = off as $$
    declare
      titled bigint[];
    begin
      if current_setting('role') = 'wms_company' and of_company::text is distinct from current_setting('app.company_id', true) then
        return '{}';
      end if;
      if 5 <= (
        select count(*) from (
          select title from tasks where company_id = of_company order by task_id desc limit 1000
        ) as newest where lower(title) || '' like pattern
      ) then
        return null;
      end if;
      -- Until the function ends, because it has settings for both.
      perform set_config('enable_seqscan', 'off', true), set_config('enable_indexscan', 'off', true);
      execute format(
        'select array(
          select t.task_id from tasks as t
          where t.company_id = $1 and lower(t.title) like %L and t.deleted_at is null and not exists (
            select from projects as p
            where p.company_id = t.company_id and p.project_id = t.project_id and p.deleted_at is not null
          )
          limit $2
        )', pattern
      ) into titled using of_company, rows_max;
      return titled;
    end $$`.execute(db);
}
