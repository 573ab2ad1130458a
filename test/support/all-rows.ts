import { sql } from 'kysely';
import type { Db } from '../../db/open.ts';
import { companyTables } from '../../db/schema.ts';

/** The rows of a database as text, by table, as PostgreSQL writes them: bytes are in it as hexadecimal digits. */
export async function readAllRows(db: Db): Promise<Map<string, string[]>> {
  const tables = await listTables(db);
  const all = new Map<string, string[]>();
  for (const table of tables) {
    const { rows } = await sql<{ row: string }>`select t::text as row from ${sql.table(table)} as t order by 1`.execute(
      db,
    );
    all.set(
      table,
      rows.map(({ row }) => row),
    );
  }
  return all;
}

/** What a database holds of a company in all tables but the given ones, as text and in order. */
export async function readRowsOfCompany(db: Db, companyId: number, but: readonly string[] = []): Promise<string[]> {
  const selects = [...companyTables]
    .filter((table) => !but.includes(table))
    .map(
      (table) =>
        sql`select ${sql.lit(table)} || ' ' || to_jsonb(t)::text as row from ${sql.table(table)} as t where t.company_id = ${companyId}`,
    );
  const { rows } = await sql<{ row: string }>`${sql.join(selects, sql` union all `)}`.execute(db);
  return rows.map(({ row }) => row).toSorted();
}

/** The tables of the service. */
export async function listTables(db: Db): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select table_name as name from information_schema.tables
    where table_schema = 'public' and table_type = 'BASE TABLE' and table_name not like 'kysely%' order by 1`.execute(
    db,
  );
  return rows.map(({ name }) => name);
}

const entities: Record<string, string> = { '&lt;': '<', '&gt;': '>', '&quot;': '"', '&amp;': '&' };

/** The same for a text and for each way in which rows, JSON and rich text write it. */
const spelled = (text: string): string =>
  text
    .replaceAll(/&(?:lt|gt|quot|amp);/g, (entity) => entities[entity]!)
    .replaceAll(/["\\]/g, '')
    .toLowerCase();

/** Where each of the texts is found, in any letter case: `table: name`. */
export async function findTexts(db: Db, texts: Record<string, string>): Promise<string[]> {
  const found: string[] = [];
  for (const [table, rows] of await readAllRows(db)) {
    const all = spelled(rows.join('\n'));
    for (const [name, text] of Object.entries(texts)) if (all.includes(spelled(text))) found.push(`${table}: ${name}`);
  }
  return found;
}
