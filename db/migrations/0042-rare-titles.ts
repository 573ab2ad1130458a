import { sql, type Kysely } from 'kysely';

/**
 * As in 0036-task-titles.ts, which says how it works, but a part is one of many titles with 50 of the newest thousand, not with five: a list
 * that is read from the newest on is never filled where six new tasks alone have the part, and the index is read up to `rows_max` only.
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
      if 50 <= (
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
