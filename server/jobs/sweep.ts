import { sql } from 'kysely';
import type { Database, Db } from '../../db/open.ts';
import type { Log } from '../platform/log.ts';
import type { Clock } from '../platform/clock.ts';
import { createPeriodicTask } from '../platform/periodic-task.ts';
import { deviceLifetimeMs } from '../features/auth/devices.ts';
import { answerLifetimeMs } from '../kernel/idempotency.ts';

/**
 * Deletes rows that are no longer needed: used one-time tokens, expired idempotent answers and events, sessions that
 * ended long ago. Several nodes may sweep at once: each skips the rows that another one has locked.
 */
export type Sweep = {
  start(): void;
  /** Sweeps once; returns the number of deleted rows by table. */
  run(): Promise<Record<string, number>>;
  stop(): Promise<void>;
};

const dayMs = 24 * 3600 * 1000;
/** A subscriber may be disconnected this long and still receive every event it missed. */
const eventLifetimeMs = 7 * dayMs;
/** Longer than jobs are retried, and than days differ between two time zones. */
const morningLifetimeMs = 7 * dayMs;
/** Ended sessions are kept for investigations. */
const endedSessionLifetimeMs = 30 * dayMs;
/** Identity tokens are accepted for a moment after they expire, because clocks differ. */
const identityTokenLeewayMs = 3_600_000;

/** Small, so that no batch delays requests for long. */
const batchSize = 500;
const intervalMs = 3_600_000;
/** The first sweep waits until the process has started. */
const firstAfterMs = 60_000;

/** Rows are deleted once `column`, an SQL expression, is `lifetimeMs` in the past. */
type Rule = { table: string; key: string[]; column: string; lifetimeMs: number };

const rules: Rule[] = [
  { table: 'one_time_codes', key: ['email', 'purpose'], column: 'expires_at', lifetimeMs: 0 },
  { table: 'one_time_tokens', key: ['token_hash'], column: 'expires_at', lifetimeMs: 0 },
  { table: 'used_identity_tokens', key: ['token_hash'], column: 'expires_at', lifetimeMs: identityTokenLeewayMs },
  {
    table: 'account_devices',
    key: ['account_id', 'device', 'network'],
    column: 'last_seen_at',
    lifetimeMs: deviceLifetimeMs,
  },
  { table: 'apple_claims', key: ['subject', 'account_id'], column: 'expires_at', lifetimeMs: 0 },
  { table: 'idempotent_answers', key: ['key_hash'], column: 'created_at', lifetimeMs: answerLifetimeMs },
  { table: 'events', key: ['company_id', 'stream', 'sequence'], column: 'at', lifetimeMs: eventLifetimeMs },
  { table: 'company_mornings', key: ['company_id', 'day'], column: 'created_at', lifetimeMs: morningLifetimeMs },
  {
    table: 'sessions',
    key: ['session_id'],
    column: 'least(ended_at, expires_at)',
    lifetimeMs: endedSessionLifetimeMs,
  },
];

/** Deletes one batch; returns how many rows it held. */
async function deleteBatch(db: Db, { table, key, column, lifetimeMs }: Rule, now: Date): Promise<number> {
  const columns = sql.join(key.map((name) => sql.ref(name)));
  const { rows } = await sql`
    delete from ${sql.table(table)} where (${columns}) in (
      select ${columns} from ${sql.table(table)} where ${sql.raw(column)} <= ${new Date(now.getTime() - lifetimeMs)}
      limit ${batchSize} for update skip locked)
    returning 1`.execute(db);
  return rows.length;
}

export function createSweep({ database, clock, log }: { database: Database; clock: Clock; log: Log }): Sweep {
  async function run(): Promise<Record<string, number>> {
    const now = clock.now();
    const deleted: Record<string, number> = {};
    for (const rule of rules) {
      let rows: number;
      do {
        rows = await deleteBatch(database.acrossCompanies.db, rule, now);
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
