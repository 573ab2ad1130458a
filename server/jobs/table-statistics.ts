import { sql } from 'kysely';
import type { Database, Db } from '../../db/open.ts';
import type { Log } from '../platform/log.ts';
import { createPeriodicTask, type PeriodicTask } from '../platform/periodic-task.ts';

/*
 * Analyses tables that have grown. A statement keeps its plan until its tables are analysed, and a plan for a table that was
 * analysed while it was empty reads all of it, whatever it holds by then. The embedded database never analyses by itself.
 * A server does it after a minute or more, and not at all where autovacuum is off.
 */

/** Below this, reading all of a table costs no more than its index. */
const pagesMin = 8;
/** So a table is analysed a few times while it grows to any size. */
const growthMin = 4;
const intervalMs = 30_000;

/** Analyses each table of the service that has grown fourfold since it was last analysed or vacuumed; returns their names. */
export async function analyzeGrownTables(db: Db): Promise<string[]> {
  const { rows } = await sql<{ table: string }>`
    select relname as "table"
    from (
      select relname, relpages, pg_relation_size(oid) / current_setting('block_size')::bigint as pages
      from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace
    ) as tables
    where pages >= ${pagesMin} and pages >= ${growthMin} * relpages
    order by relname`.execute(db);
  const grown = rows.map(({ table }) => table);
  // One by one, so that the embedded database serves requests in between. Another node may be at the same table.
  for (const table of grown) await sql`analyze (skip_locked) ${sql.table(table)}`.execute(db);
  return grown;
}

export function createTableStatistics({ database, log }: { database: Database; log: Log }): PeriodicTask {
  return createPeriodicTask({
    firstAfterMs: intervalMs,
    async run() {
      const tables = await analyzeGrownTables(database.owner.db);
      if (tables.length > 0) log.debug({ tables }, 'tables that have grown were analysed');
      return intervalMs;
    },
    failed(error) {
      log.warn({ err: error }, 'tables that have grown were not analysed; next try in half a minute');
      return intervalMs;
    },
  });
}
