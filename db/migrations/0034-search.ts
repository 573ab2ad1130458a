import { sql, type Kysely, type QueryExecutorProvider } from 'kysely';

/*
 * Search: each searched table has an index over the terms of its rows, which PostgreSQL computes when it stores a row, so nothing
 * has to be kept beside it. See docs/search.md and docs/decisions/0009-search-by-terms.md. Terms are prefixed by the company.
 *
 * - `7=bud`: a word of the name of a row of company 7 begins with "bud"; `7 bud`: a word of its text does.
 * - `7#12`: it belongs to project or task 12; `7@3`: its number is in the third block of 1,024, so that a search can begin with the newest.
 * - A script without spaces between words has a term for each character and for each two that stand next to each other.
 *
 * A function that an index uses never changes: its successor gets another name and index.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await createIndexes(db, 'create index');
  await sql.raw(matches()).execute(db);
}

/** Builds the indexes while others write, before the migration, which then finds them. Not in a transaction. */
export const buildIndexesFirst = (db: QueryExecutorProvider): Promise<void> =>
  createIndexes(db, 'create index concurrently');

async function createIndexes(db: QueryExecutorProvider, create: string): Promise<void> {
  for (const statement of [foldText, plainText, termsOf, termsOfRow]) await sql.raw(statement).execute(db);
  for (const { table, terms, isLive } of searched) {
    const name = `${table}_by_terms`;
    const { rows } = await sql<{ valid: boolean }>`
      select indisvalid as valid from pg_index where indexrelid = to_regclass(${name})`.execute(db);
    // What a build leaves behind that was broken off.
    if (rows[0]?.valid === false) await sql.raw(`drop index ${name}`).execute(db);
    if (rows[0]?.valid !== true)
      await sql
        .raw(`${create} ${name} on ${table} using gin ((${terms})) with (fastupdate = off) where ${isLive}`)
        .execute(db);
    // Nobody reads them, and ANALYZE would compute the terms of thousands of rows for them.
    await sql.raw(`alter index ${name} alter column 1 set statistics 0`).execute(db);
  }
}

const ofProject =
  'cross join lateral (select from projects as p where p.company_id = $1 and p.project_id = c.parent and p.deleted_at is null limit 1) as v';
const ofTask = `cross join lateral (
  select from tasks as t join projects as p on p.company_id = t.company_id and p.project_id = t.project_id
  where t.company_id = $1 and t.task_id = c.parent and t.deleted_at is null and p.deleted_at is null limit 1) as v`;

/** What is searched: the expressions of its index, its whole text, and what makes a row visible beside itself. */
const searched = [
  {
    kind: 'employee',
    table: 'employees',
    id: 'employee_id',
    terms: "search_terms_of_row(company_id, employee_id, null, name, coalesce(designation, '') || ' ' || email)",
    text: "name || ' ' || coalesce(designation, '')",
    isLive: 'not is_deleted',
    parent: 'null::bigint',
    visible: '',
  },
  {
    kind: 'project',
    table: 'projects',
    id: 'project_id',
    terms: 'search_terms_of_row(company_id, project_id, project_id, name, description)',
    text: "name || ' ' || coalesce(description, '')",
    isLive: 'deleted_at is null',
    parent: 'null::bigint',
    visible: '',
  },
  {
    kind: 'task',
    table: 'tasks',
    id: 'task_id',
    terms: 'search_terms_of_row(company_id, task_id, project_id, title, description)',
    text: "title || ' ' || coalesce(description, '')",
    isLive: 'deleted_at is null',
    parent: 'project_id',
    visible: ofProject,
  },
  {
    kind: 'comment',
    table: 'comments',
    id: 'comment_id',
    terms: 'search_terms_of_row(company_id, comment_id, task_id, null, search_plain_text(message))',
    text: 'search_plain_text(message)',
    isLive: 'not is_deleted',
    parent: 'task_id',
    visible: ofTask,
  },
];

/** Without case, accents and forms of one letter; server/features/search/fold.ts does the same. */
const foldText = `
  create or replace function search_fold(of_text text) returns text immutable parallel safe language plpgsql as $$
  begin
    if octet_length(of_text) = length(of_text) then
      return lower(of_text);
    end if;
    return replace(replace(replace(replace(
      translate(
        lower(normalize(regexp_replace(normalize(of_text, nfkd), '[\\u0300-\\u036f]', '', 'g'), nfkc)),
        'øłđðıς', 'olddiσ'
      ),
      'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe'), 'þ', 'th');
  end $$`;

/** The text of a comment, as \`plainTextOf\` of server/features/comments/rich-text.ts finds it, but for white space and entities. */
const plainText = `
  create or replace function search_plain_text(message text) returns text immutable parallel safe language plpgsql as $$
  begin
    return regexp_replace(
      regexp_replace(
        regexp_replace(left(message, 16000), '<(?:[bh]r /|/(?:p|li|ul|ol|blockquote|pre|h[1-6]|div))>', ' ', 'g'),
        '<[^>]*>', '', 'g'
      ),
      '&(?:lt|gt|quot|amp);', ' ', 'g'
    );
  end $$`;

/** Characters of scripts that have no spaces between words: Thai, Lao, Burmese, Khmer, Chinese, Japanese, Korean. */
const unspaced =
  '\\u0e00-\\u0eff\\u1000-\\u109f\\u1780-\\u17ff\\u3005-\\u3007\\u3040-\\u318f\\u31a0-\\u31ff\\u3400-\\u4dbf\\u4e00-\\u9fff' +
  '\\ua960-\\ua97f\\uac00-\\ud7ff\\uf900-\\ufaff\\U00020000-\\U0003ffff';

/** Characters of words of the other scripts. Symbols, punctuation and emoji separate words. */
const spaced =
  '0-9a-z\\u00aa\\u00b5\\u00ba\\u00c0-\\u1fff\\u2c00-\\u2dff\\ua000-\\uabff\\ufb00-\\ufdff\\U00010000-\\U0001efff';

/** The terms of the first 4,000 characters of a text: beginnings of words, of two to twelve letters. */
const termsOf = `
  create or replace function search_terms(lead text, of_text text) returns text[]
  immutable parallel safe cost 5000 language plpgsql as $$
  declare
    folded text := public.search_fold(left(of_text, 4000));
    runs text[];
  begin
    if folded is null then
      return '{}';
    end if;
    if octet_length(folded) = length(folded) then
      folded := regexp_replace(folded, '[^0-9a-z]+', ' ', 'g');
    else
      runs := array(select m[1] from regexp_matches(folded, '[${unspaced}]+', 'g') as m);
      folded := regexp_replace(regexp_replace(folded, '[${unspaced}]+', ' ', 'g'), '[^${spaced}]+', ' ', 'g');
    end if;
    return array(
      select lead || left(w, n)
      from (select distinct w from unnest(string_to_array(folded, ' ')) as w where w <> '') as words
      cross join generate_series(least(2, length(w)), least(12, length(w))) as n
      union all
      select lead || term
      from unnest(runs) as run
      cross join lateral (
        select c, c || lead(c) over (order by i) as pair from unnest(string_to_array(run, null)) with ordinality as x (c, i)
      ) as characters
      cross join lateral (values (c), (pair)) as terms (term)
      where term is not null
    );
  end $$`;

const termsOfRow = `
  create or replace function search_terms_of_row(company_id bigint, id bigint, belongs_to bigint, name text, body text)
  returns text[] immutable parallel safe cost 5000 language plpgsql as $$
  begin
    return array[company_id || '@' || id / 1024, company_id || '#' || belongs_to]
      || public.search_terms(company_id || '=', name) || public.search_terms(company_id || ' ', body);
  end $$`;

/**
 * The newest rows of a kind with a term of each list in `words`, and if there are more than `rows_max`, the newest of those whose names
 * have them all.
 *
 * It runs as the owner of the tables: behind a policy PostgreSQL would not use the indexes, because their operators are not leakproof.
 * So it checks the company itself. It returns numbers alone, whose rows are read under the policy.
 *
 * Frequent words are not looked for in all rows: the newest thousand come first, then as many as should have enough by what these had,
 * and the others only if they do not.
 *
 * The planner does not see the terms, because many alternatives look as if every row had one, and it would read the whole table. A bitmap
 * without enough memory forgets rows and has the terms of whole pages computed.
 */
const matches = () => `
  create or replace function search_matches(
    kind text, of_company bigint, words jsonb, runs text[], in_project bigint, up_to bigint, rows_max integer
  ) returns setof bigint
  stable rows 200 language plpgsql security definer
  set search_path = pg_catalog, public set max_parallel_workers_per_gather = 0 set work_mem = '64MB' set jit = off as $$
  declare
    blocks_max constant integer := 2000;
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
    found integer;
    added integer;
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
      loop
        if below is null or below <= oldest or above / 1024 - below / 1024 > blocks_max then
          below := 0;
        end if;
        -- Nothing is added to columns of other indexes, so that the terms alone decide which index is read.
        return query execute format(
          'with c as materialized (
            select %1$I as id, %2$s as parent from %3$I
            where company_id + 0 = $1 and %4$s %5$s and %1$I + 0 > $2 and %1$I + 0 <= $3
          )
          select c.id from (select * from c order by id desc) as c %6$s limit $4',
          key, parent, of_table, is_live,
          wanted || in_scope || case when below > 0 then format(has_one, array(
            select of_company || '@' || n from generate_series(below / 1024, above / 1024) as n
          )) else '' end,
          visible
        ) using of_company, below, above, rows_max - found;
        get diagnostics added = row_count;
        found := found + added;
        exit when found >= rows_max or below = 0;
        above := below;
        -- How many rows to look at next: if matches stay as frequent, twice as many as are needed.
        below := case when found > 0 then newest - 2 * (newest - below) * rows_max / found end;
      end loop;
      exit when found < rows_max or cardinality(leads) = 1;
      leads := array['='];
    end loop;
  end $$`;

/** The branches of a CASE over the kinds. */
export function byKind(valueOf: (kind: (typeof searched)[number]) => string): string {
  return searched.map((one) => `when '${one.kind}' then '${valueOf(one).replaceAll("'", "''")}'`).join(' ');
}
