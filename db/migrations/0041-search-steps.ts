import { sql, type Kysely } from 'kysely';
import { byKind } from './0034-search.ts';

/**
 * Searches by the newest rows also where their numbers are far apart: behind the gap of a restore, or beside many other companies. There a
 * step counts the blocks in which the company has rows, and not those between.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(matches).execute(db);
}

/** As in 0034-search.ts, which says how it works, but for the steps. */
const matches = `
  create or replace function search_matches(
    kind text, of_company bigint, words jsonb, runs text[], in_project bigint, up_to bigint, rows_max integer
  ) returns setof bigint
  stable rows 200 language plpgsql security definer
  set search_path = pg_catalog, public set max_parallel_workers_per_gather = 0 set work_mem = '64MB' set jit = off as $$
  declare
    blocks_max constant integer := 2000;
    spread_blocks_max constant integer := 500;
    span_max constant integer := blocks_max * 1024;
    tasks_searched_max constant integer := 2000;
    of_table constant text := case kind ${byKind(({ table }) => table)} end;
    key constant text := case kind ${byKind(({ id }) => id)} end;
    terms constant text := case kind ${byKind((one) => one.terms)} end;
    body constant text := case kind ${byKind((one) => one.text)} end;
    is_live constant text := case kind ${byKind((one) => one.isLive)} end;
    parent constant text := case kind ${byKind((one) => one.parent)} end;
    visible constant text := case kind ${byKind((one) => one.visible)} end;
    -- The condition that a row has one of some terms; the subselect hides them from the planner.
    has_one constant text := ' and ' || terms || ' && (select %L::text[])';
    leads text[] := case kind when 'comment' then array[' '] else array['=', ' '] end;
    in_scope text := '';
    wanted text;
    newest bigint;
    oldest bigint;
    thousandth bigint;
    below bigint;
    above bigint;
    blocks bigint[];
    asked bigint;
    looked bigint;
    found integer;
    added integer;
    is_spread boolean;
  begin
    if current_setting('role') = 'wms_company' and of_company::text is distinct from current_setting('app.company_id', true) then
      return;
    end if;
    if in_project is not null then
      in_scope := format(has_one, case kind when 'comment' then array(
        select of_company || '#' || t.task_id from tasks as t
        where t.company_id = of_company and t.project_id = in_project and t.deleted_at is null
        order by t.task_id desc limit tasks_searched_max
      ) else array[of_company || '#' || in_project] end);
    end if;
    if cardinality(runs) > 0 then
      in_scope := in_scope || format(' and search_fold(%s) like all (%L::text[])', body, runs);
    end if;
    execute format(
      'select max(%1$I), min(%1$I), (
        select %1$I from %2$I where company_id = $1 and %1$I <= $2 order by %1$I desc offset 999 limit 1
      ) from %2$I where company_id = $1 and %1$I <= $2',
      key, of_table
    ) into newest, oldest, thousandth using of_company, up_to;

    loop
      select coalesce(string_agg(format(has_one, array(
        select of_company || l || w from unnest(leads) as l, jsonb_array_elements_text(list) as w
      )), ''), '') into wanted from jsonb_array_elements(words) as list;
      found := 0;
      above := newest;
      below := thousandth;
      asked := 200;
      looked := 0;
      loop
        blocks := null;
        is_spread := newest - oldest > span_max and newest - below > span_max;
        if below > oldest and above < newest and newest - oldest > span_max and not is_spread then
          -- Whether the step would end within a gap.
          execute format('select $2 - max(%1$I) > $3 from %2$I where company_id = $1 and %1$I <= $2', key, of_table)
            into is_spread using of_company, below, span_max;
        end if;
        if is_spread then
          if asked <= spread_blocks_max then
            execute format(
              'with recursive b as (
                (select %1$I / 1024 as n from %2$I where company_id = $1 and %1$I <= $2 order by %1$I desc limit 1)
                union all
                select c.n from b cross join lateral (
                  select %1$I / 1024 as n from %2$I where company_id = $1 and %1$I < b.n * 1024 order by %1$I desc limit 1
                ) as c where b.n > $4
              )
              select array_agg(n), min(n) * 1024 - 1 from (select n from b limit $3) as b',
              key, of_table
            ) into blocks, below using of_company, above, asked, case when above = newest then below / 1024 else 0 end;
          else
            below := 0;
          end if;
        end if;
        if below is null or below <= oldest then
          below := 0;
        end if;
        looked := case when blocks is null then newest / 1024 - below / 1024 + 1 else looked + cardinality(blocks) end;
        return query execute format(
          'with c as materialized (
            select %1$I as id, %2$s as parent from %3$I
            where company_id + 0 = $1 and %4$s %5$s and %1$I + 0 > $2 and %1$I + 0 <= $3
          )
          select c.id from (select * from c order by id desc) as c %6$s limit $4',
          key, parent, of_table, is_live,
          wanted || in_scope || case when below > 0 then format(has_one, array(
            select of_company || '@' || n
            from unnest(coalesce(blocks, array(select generate_series(below / 1024, above / 1024)))) as n
          )) else '' end,
          visible
        ) using of_company, below, above, rows_max - found;
        get diagnostics added = row_count;
        found := found + added;
        exit when found >= rows_max or below = 0;
        above := below;
        -- How many rows to look at next: if matches stay as frequent, twice as many as are needed.
        below := case when found > 0 then newest - 2 * (newest - below) * rows_max / found end;
        asked := 2 * looked * rows_max / nullif(found, 0);
      end loop;
      exit when found < rows_max or cardinality(leads) = 1;
      leads := array['='];
    end loop;
  end $$`;
