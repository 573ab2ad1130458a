import { sql, type RawBuilder } from 'kysely';
import { catalogue, isReference, type ExportedTable, type Label, type Table } from '../../../db/catalogue.ts';

/*
 * The statements that read an export, built from the catalogue (db/catalogue.ts): a row becomes one line of JSON with the
 * columns that are exported, under their names in the database.
 */

/** Whose rows: those of the whole company, or what concerns one employee. */
export type Whose = { companyId: number; employeeId: number | null };

/** A table in an export. */
export type TableStatement = {
  table: Table;
  count: RawBuilder<{ count: number }>;
  lines: RawBuilder<{ line: string }>;
  /** The lines behind a row, as one text; of a table whose rows have numbers and are in their order. */
  page: ((after: number) => RawBuilder<Page>) | undefined;
};

/** `lines` is null where there are no more. */
export type Page = { lines: string | null; count: number; last: number };

/** Few enough to take little memory: a comment may have 64 KiB. */
const rowsOfPage = 500;

const kept = new Set<Label>(['company', 'secret', 'derived', 'local']);

/** The columns of a table that are exported, in their order. */
export const exportedColumns = (table: Table): [name: string, label: Label][] =>
  Object.entries<Label>(catalogue[table].columns).filter(([, label]) => !kept.has(label));

/** The tables of an export of a company, in the order in which they are imported. */
export const companyTables = (Object.keys(catalogue) as Table[]).filter((table) => exportOf(table)?.ofCompany);

export function statementsOf(whose: Whose): TableStatement[] {
  const tables =
    whose.employeeId === null
      ? companyTables
      : (Object.keys(catalogue) as Table[]).filter((table) => exportOf(table)?.ofPerson);
  return tables.map((table) => statementOf(table, whose));
}

function exportOf(table: Table): ExportedTable | undefined {
  const { exported } = catalogue[table];
  return typeof exported === 'string' ? undefined : exported;
}

function statementOf(table: Table, { companyId, employeeId }: Whose): TableStatement {
  const { key, ofPerson } = exportOf(table)!;
  const columns = exportedColumns(table).map(([name, label]) => expressionOf(table, name, label));
  const condition = `t.company_id = $1${employeeId === null ? '' : ` and (${ofPerson})`}`
    .replaceAll('$1', String(companyId))
    .replaceAll('$2', String(employeeId));
  const rows = `from ${table} as t where ${condition}`;
  const order = key.length === 0 ? '' : `order by ${key.map((name) => `t.${name}`).join(', ')}`;
  const shown = columns.join(', ');
  const [id] = key;
  const hasNumbers = key.length === 1 && (catalogue[table].columns as Record<string, Label>)[id!] === 'id';
  return {
    table,
    count: sql.raw(`select count(*) as count ${rows}`),
    lines: sql.raw(`select row_to_json(r)::text as line from (select ${shown} ${rows} ${order}) as r`),
    page: hasNumbers
      ? (after) => sql<Page>`
          select string_agg(line, E'\n' order by id) as lines, count(*) as count, max(id) as last
          from (
            select row_to_json(r)::text as line, r.${sql.raw(id!)} as id
            from (select ${sql.raw(`${shown} ${rows}`)} and t.${sql.raw(id!)} > ${after} ${sql.raw(order)} limit ${sql.lit(rowsOfPage)}) as r
          ) as page`
      : undefined,
  };
}

/** References that are no foreign keys: the row may be gone. */
const loose = new Set(['notifications.task_id', 'notifications.comment_id', 'notifications.project_id']);

function expressionOf(table: Table, name: string, label: Label): string {
  const column = `t.${name}`;
  if (`${table}.${name}` === 'pictures.content') return `translate(encode(${column}, 'base64'), E'\\n', '') as ${name}`;
  // Without the address of the frontend.
  if (label === 'link')
    return `regexp_replace(${column}, '^.*?(/(?:tasks|projects|timesheet-periods)\\M.*)?$', '\\1') as ${name}`;
  if (!isReference(label)) return column;
  // Plans belong to the installation, and are known by their code.
  if (label.table === 'plans') return `(select code from plans as p where p.plan_id = ${column}) as plan`;
  if (!loose.has(`${table}.${name}`)) return column;
  return `(select r.${name} from ${label.table} as r where r.company_id = t.company_id and r.${name} = ${column}) as ${name}`;
}
