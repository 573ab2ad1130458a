import { sql } from 'kysely';
import { deleteExpired, listExpired } from '../features/audit/retention.ts';
import { listEndedCompanies, removeCompany } from '../features/removal/remove-company.ts';
import { deletePreviousSecrets } from '../features/webhooks/secrets.ts';
import type { Services } from '../kernel/context.ts';
import { createPeriodicTask, type PeriodicTask } from '../platform/periodic-task.ts';
import { batchSize, deleteBatch, rules } from './old-rows.ts';
import { beginRound } from './sweep-rounds.ts';

/**
 * Deletes rows that are no longer needed: used one-time tokens, expired idempotent answers and events, sessions that
 * ended long ago; and companies that were closed. Several nodes may sweep at once: each skips the rows that another one has locked.
 */
export type Sweep = Pick<PeriodicTask, 'start' | 'stop'> & {
  /** Sweeps once; returns the number of deleted rows by table, empty while the time is doubted. */
  run(): Promise<Record<string, number>>;
};

const intervalMs = 3_600_000;
const dayMs = 24 * intervalMs;
/** The first sweep waits until the process has started. */
const firstAfterMs = 60_000;

type Parts = Pick<Services, 'database' | 'clock' | 'log' | 'tokens'> & {
  /** Set if the audit log is not kept for ever. */
  auditRetentionDays?: number;
};

export function createSweep({ database, clock, log, tokens, auditRetentionDays }: Parts): Sweep {
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
    await deletePreviousSecrets(db, now);
    if (auditRetentionDays !== undefined) deleted['audit_log'] = await sweepAudit(auditRetentionDays, now);
    const removed = await removeEnded(now);
    if (removed > 0) deleted['companies'] = removed;
    // A PostgreSQL server does this by itself. The embedded database does not, and plans badly without statistics.
    if (database.kind === 'embedded') await sql`vacuum (analyze)`.execute(database.owner.db);
    return deleted;
  }

  /** Deletes whole sealed ranges of the audit log, each company's in its own scope. */
  async function sweepAudit(retentionDays: number, now: Date): Promise<number> {
    const before = new Date(now.getTime() - retentionDays * dayMs);
    let deleted = 0;
    for (const companyId of await listExpired(database.acrossCompanies.db, before))
      for (let rows = 1; rows > 0 && !task.signal.aborted; deleted += rows)
        rows = await deleteExpired({ database, tokens }, companyId, before);
    return deleted;
  }

  /** Removes the companies that were closed long enough ago, one after another; goes on with what was interrupted. */
  async function removeEnded(now: Date): Promise<number> {
    let removed = 0;
    for (const companyId of await listEndedCompanies(database.acrossCompanies.db, now)) {
      try {
        const removal = { companyId, by: 'owner', now } as const;
        if (!(await removeCompany({ database, tokens }, removal, { signal: task.signal }))) continue;
        removed += 1;
        log.info({ companyId }, 'a company was removed, as its owner had closed it');
      } catch (error) {
        log.error({ err: error, companyId }, 'a closed company was not removed; next try in an hour');
      }
    }
    return removed;
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
