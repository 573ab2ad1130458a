import { sql } from 'kysely';
import type { Database } from '../../db/open.ts';
import type { Log } from '../platform/log.ts';
import type { Clock } from '../platform/clock.ts';
import { createPeriodicTask } from '../platform/periodic-task.ts';
import { batchSize, deleteBatch, rules } from './old-rows.ts';
import { beginRound } from './sweep-rounds.ts';

/**
 * Deletes rows that are no longer needed: used one-time tokens, expired idempotent answers and events, sessions that
 * ended long ago. Several nodes may sweep at once: each skips the rows that another one has locked.
 */
export type Sweep = {
  start(): void;
  /** Sweeps once; returns the number of deleted rows by table, empty while the time is doubted. */
  run(): Promise<Record<string, number>>;
  stop(): Promise<void>;
};

const intervalMs = 3_600_000;
/** The first sweep waits until the process has started. */
const firstAfterMs = 60_000;

export function createSweep({ database, clock, log }: { database: Database; clock: Clock; log: Log }): Sweep {
  async function run(): Promise<Record<string, number>> {
    const now = clock.now();
    const { db } = database.acrossCompanies;
    const doubt = await beginRound(db, now);
    if (doubt) {
      log.error(
        doubt,
        'old rows were not deleted: the service was off for long, or the clock is wrong; docs/operations.md says how to confirm the time',
      );
      return {};
    }
    const deleted: Record<string, number> = {};
    for (const rule of rules) {
      let rows: number;
      do {
        rows = await deleteBatch(db, rule, now);
        deleted[rule.table] = (deleted[rule.table] ?? 0) + rows;
      } while (rows === batchSize && !task.signal.aborted);
    }
    // A PostgreSQL server does this by itself. The embedded database does not, and plans badly without statistics.
    if (database.kind === 'embedded') await sql`vacuum (analyze)`.execute(database.owner.db);
    return deleted;
  }

  const task = createPeriodicTask({
    firstAfterMs,
    async run() {
      log.debug({ deleted: await run() }, 'old rows were swept');
      return intervalMs;
    },
    failed(error) {
      log.warn({ err: error }, 'old rows were not swept; next try in an hour');
      return intervalMs;
    },
  });

  return { start: task.start, run, stop: task.stop };
}
