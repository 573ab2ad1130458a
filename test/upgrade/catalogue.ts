import { sql } from 'kysely';
import type { Db } from '../../db/open.ts';

/*
 * What only the rows of a statement meet, so that its plan does not show it: columns that must have a value, constraints
 * and triggers. They are compared in the catalogues of two schemas. Names that are gone are left to the plans: what no
 * released statement names may go.
 */

type Column = { type: string; isRequired: boolean; default: string | null };
type Rule = { kind: 'check' | 'reference' | 'exclusion' | 'unique' | 'trigger'; definition: string; columns: string[] };

export type Catalogue = {
  /** By `table.column`. */
  columns: Map<string, Column>;
  /** By `table: name`. */
  rules: Map<string, Rule>;
};

export async function readCatalogue(db: Db): Promise<Catalogue> {
  const columns = await sql<Column & { name: string }>`
    select c.relname || '.' || a.attname as name, format_type(a.atttypid, a.atttypmod) as type,
      a.attnotnull and a.attidentity = '' and d.oid is null as "isRequired", pg_get_expr(d.adbin, d.adrelid) as default
    from pg_attribute as a
    join pg_class as c on c.oid = a.attrelid and c.relkind in ('r', 'p') and c.relnamespace = 'public'::regnamespace
    left join pg_attrdef as d on d.adrelid = a.attrelid and d.adnum = a.attnum
    where a.attnum > 0 and not a.attisdropped`.execute(db);
  const rules = await sql<Rule & { name: string }>`
    with rules as (
      select conrelid as relation, conname as name, conkey::int[] as keys, pg_get_constraintdef(oid) as definition,
        case contype when 'c' then 'check' when 'f' then 'reference' else 'exclusion' end as kind
      from pg_constraint where contype in ('c', 'f', 'x')
      union all
      select indrelid, indexrelid::regclass::name, indkey::int[], pg_get_indexdef(indexrelid), 'unique'
      from pg_index where indisunique
      union all
      select tgrelid, tgname, '{}', pg_get_triggerdef(oid), 'trigger' from pg_trigger where not tgisinternal
    )
    select c.relname || ': ' || r.name as name, r.kind, r.definition, array(
      select c.relname || '.' || coalesce(a.attname, '(an expression)')
      from unnest(r.keys) as number left join pg_attribute as a on a.attrelid = c.oid and a.attnum = number and number > 0
    ) as columns
    from rules as r join pg_class as c on c.oid = r.relation and c.relnamespace = 'public'::regnamespace`.execute(db);
  return {
    columns: new Map(columns.rows.map(({ name, ...column }) => [name, column])),
    rules: new Map(rules.rows.map(({ name, ...rule }) => [name, rule])),
  };
}

/** What statements that were made for the first schema may fail for on the second one, one sentence each. */
export function compareCatalogues(before: Catalogue, after: Catalogue): string[] {
  const tables = new Set([...before.columns.keys()].map(tableOf));
  return [...changedColumns(before, after, tables), ...addedRules(before, after, tables)].toSorted();
}

const tableOf = (name: string): string => name.split(/[.:]/, 1)[0]!;

function* changedColumns(before: Catalogue, after: Catalogue, tables: Set<string>): Generator<string> {
  for (const [name, column] of after.columns) {
    const old = before.columns.get(name);
    if (column.isRequired && old?.isRequired !== true && tables.has(tableOf(name)))
      yield `${name} must have a value, and has no default`;
    if (!old) continue;
    if (old.type !== column.type) yield `${name} was ${old.type}, and is ${column.type}`;
    else if (old.default !== column.default && !column.isRequired)
      yield `${name} has another default: ${column.default ?? 'null'}`;
  }
}

function* addedRules(before: Catalogue, after: Catalogue, tables: Set<string>): Generator<string> {
  for (const [name, { kind, definition, columns }] of after.rules) {
    if (!tables.has(tableOf(name)) || before.rules.get(name)?.definition === definition) continue;
    const added = columns.filter((column) => !before.columns.has(column) && after.columns.has(column));
    // Released statements leave an added column empty: a null is distinct from others, and refers to nothing.
    const isLeftEmpty = (column: string) => after.columns.get(column)!.default === null;
    const isUnmet =
      kind === 'unique' || kind === 'reference'
        ? added.some(isLeftEmpty) && !/nulls not distinct|match full/i.test(definition)
        : added.length > 0 && added.length === columns.length;
    if (kind === 'trigger' || !isUnmet) yield `${name} is another ${kind}: ${definition}`;
  }
}
