import { sql, type RawBuilder } from 'kysely';
import { isDeepStrictEqual } from 'node:util';
import type { Db } from '../../../db/open.ts';
import { inTransaction } from '../../kernel/in-transaction.ts';
import type { JobServices } from '../../kernel/job.ts';
import type { Eraser } from './known-as.ts';

/*
 * Goes through a table of a company in the order of its key, some thousand rows at a time, each in a transaction of its own: no
 * statement lasts for long, and a job that is killed begins again without harm.
 */

/** How a column is stored. */
type Kind = 'text' | 'text[]' | 'jsonb';

export type ErasedTable = {
  name: string;
  /** The primary key without the company, with the types of its columns. */
  key: Readonly<Record<string, 'bigint' | 'text'>>;
  columns: Readonly<Record<string, Kind>>;
  /** Rows that are looked at although no text in them matches. */
  also?: (employeeId: number) => RawBuilder<boolean>;
};

/** So many rows are looked at by one statement. */
const rowsAtOnce = 5_000;

type Key = (string | number)[];
type Found = { key: Key; values: Record<string, unknown> };
type Person = { companyId: number; employeeId: number };

/** Erases a person from the columns of a table. */
export async function eraseFromTable(
  services: JobServices,
  table: ErasedTable,
  person: Person,
  eraser: Eraser,
): Promise<void> {
  for (let after: Key | undefined, isLast = false; !isLast;) {
    const place = after;
    after = await inTransaction(services, person.companyId, async (db) => {
      const upto = await findEnd(db, table, person, place);
      await eraseBatch(db, table, { ...person, after: place, upto }, eraser);
      return upto;
    });
    isLast = after === undefined;
  }
}

const columnsOf = ({ key }: ErasedTable): RawBuilder<unknown> =>
  sql.join(Object.keys(key).map((name) => sql.ref(`t.${name}`)));

function placeOf({ key }: ErasedTable, place: Key): RawBuilder<unknown> {
  const types = Object.values(key);
  return sql`(${sql.join(place.map((value, index) => sql`${value}::${sql.raw(types[index]!)}`))})`;
}

const isAfter = (table: ErasedTable, after: Key | undefined): RawBuilder<boolean> =>
  after ? sql<boolean>`(${columnsOf(table)}) > ${placeOf(table, after)}` : sql<boolean>`true`;

/** The key of the last row of a batch; undefined at the end of the table. */
async function findEnd(
  db: Db,
  table: ErasedTable,
  { companyId }: Person,
  after: Key | undefined,
): Promise<Key | undefined> {
  const { rows } = await sql<{ key: Key }>`
    select jsonb_build_array(${columnsOf(table)}) as key from ${sql.table(table.name)} as t
    where t.company_id = ${companyId} and ${isAfter(table, after)}
    order by ${columnsOf(table)} offset ${sql.lit(rowsAtOnce - 1)} limit 1`.execute(db);
  return rows[0]?.key;
}

async function eraseBatch(
  db: Db,
  table: ErasedTable,
  { companyId, employeeId, after, upto }: Person & { after: Key | undefined; upto: Key | undefined },
  { pattern, erase }: Eraser,
): Promise<void> {
  const names = Object.keys(table.columns);
  const values = sql`jsonb_build_object(${sql.join(names.flatMap((name) => [sql.lit(name), sql.ref(`t.${name}`)]))})`;
  const { rows } = await sql<Found>`
    select jsonb_build_array(${columnsOf(table)}) as key, ${values} as values from ${sql.table(table.name)} as t
    where t.company_id = ${companyId} and ${isAfter(table, after)}
      and ${upto ? sql`(${columnsOf(table)}) <= ${placeOf(table, upto)}` : sql`true`}
      and (${values}::text ~* ${pattern} or ${table.also?.(employeeId) ?? sql`false`})
    order by ${columnsOf(table)} for update`.execute(db);
  const erased = rows.flatMap((row) => {
    const without = erase(row.values);
    return isDeepStrictEqual(without, row.values) ? [] : [{ key: row.key, values: without }];
  });
  if (erased.length > 0) await write(db, table, companyId, erased);
}

const readers: Record<Kind, (value: RawBuilder<unknown>) => RawBuilder<unknown>> = {
  text: (value) => sql`${value} #>> '{}'`,
  'text[]': (value) => sql`array(select jsonb_array_elements_text(${value}))`,
  jsonb: (value) => value,
};

async function write(db: Db, table: ErasedTable, companyId: number, rows: Found[]): Promise<void> {
  const columns = Object.entries(table.columns).map(
    ([name, kind]) => sql`${sql.ref(name)} = ${readers[kind](sql`(g.values -> ${sql.lit(name)})`)}`,
  );
  const matches = Object.entries(table.key).map(
    ([name, type], index) => sql`${sql.ref(`t.${name}`)} = (g.key ->> ${sql.lit(index)})::${sql.raw(type)}`,
  );
  await sql`
    update ${sql.table(table.name)} as t set ${sql.join(columns)}
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as g (key jsonb, values jsonb)
    where t.company_id = ${companyId} and ${sql.join(matches, sql` and `)}`.execute(db);
}
