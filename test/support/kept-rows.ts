import { sql } from 'kysely';
import type { Db } from '../../db/open.ts';
import { listTables } from './all-rows.ts';

/** What has happened stays so: a service remembers the numbers of events, and the seals of the audit log are a chain. */
const onlyAddedTo = new Set(['audit_clock', 'audit_erasures', 'audit_log', 'audit_seals', 'event_streams', 'events']);

/**
 * Keeps the rows of the database, and answers how to bring them back: things that are made once serve operations that each
 * change or delete them. Sequences go on, so no identifier is given twice.
 */
export async function keepRows(db: Db): Promise<() => Promise<void>> {
  const tables = (await listTables(db)).filter((table) => !onlyAddedTo.has(table));
  const columns = await readStoredColumns(db);
  const kept = await readRows(db, tables);
  return async () => {
    const rows = await readRows(db, tables);
    const changed = tables.filter((table) => rows.get(table) !== kept.get(table));
    if (changed.length === 0) return;
    await db.transaction().execute(async (within) => {
      // What triggers keep is among the rows, and those that refer to each other come back in any order.
      await sql`set local session_replication_role = replica`.execute(within);
      for (const table of changed) {
        const names = sql.join(columns.get(table)!.map((name) => sql.ref(name)));
        const as = sql`${sql.table(table)}[]`;
        await sql`delete from ${sql.table(table)}`.execute(within);
        await sql`
          insert into ${sql.table(table)} (${names}) overriding system value
          select ${names} from unnest(array(select json_array_elements_text(${kept.get(table)}::json))::${as})`.execute(
          within,
        );
      }
    });
  };
}

/** The rows of each table as PostgreSQL writes them, in a list that is JSON. */
async function readRows(db: Db, tables: string[]): Promise<Map<string, string>> {
  const selects = tables.map(
    (table) =>
      sql`select ${sql.lit(table)} as name, json_agg(t::text order by t::text)::text as rows from ${sql.table(table)} as t`,
  );
  const { rows } = await sql<{ name: string; rows: string | null }>`${sql.join(selects, sql` union all `)}`.execute(db);
  return new Map(rows.map((row) => [row.name, row.rows ?? '[]']));
}

/** The columns of each table but those that are computed. */
async function readStoredColumns(db: Db): Promise<Map<string, string[]>> {
  const { rows } = await sql<{ table: string; columns: string[] }>`
    select table_name as table, json_agg(column_name) as columns from information_schema.columns
    where table_schema = 'public' and is_generated = 'NEVER' group by table_name`.execute(db);
  return new Map(rows.map((row) => [row.table, row.columns]));
}
