import { setTimeout as delay } from 'node:timers/promises';
import { sql, type QueryExecutorProvider } from 'kysely';

/*
 * A change of the schema waits for every transaction that uses its table, and all later statements on that table wait
 * behind it. So a change waits for a lock for one second at most. Then it is rolled back and run again after a pause, in
 * which the others proceed. It gives up after about a minute, for a long read such as a backup may hold its lock for hours.
 */

const lockTimeoutMs = 1_000;
const pausesMs = [500, 1_000, 2_000, 4_000, 5_000, 5_000, 5_000, 5_000, 5_000, 5_000, 5_000];

/** Further statements of the transaction wait for a lock only briefly, and take as long as they need once they have it. */
export async function setLimits<Handle extends QueryExecutorProvider>(transaction: Handle): Promise<Handle> {
  await sql`set local statement_timeout = 0`.execute(transaction);
  await sql`set local lock_timeout = ${sql.lit(lockTimeoutMs)}`.execute(transaction);
  return transaction;
}

/** Runs `work`, a transaction, until it gets its locks. */
export async function retryLocks<Answer>(work: () => Promise<Answer>): Promise<Answer> {
  for (const pauseMs of pausesMs)
    try {
      return await work();
    } catch (error) {
      if (!hasLostLock(error)) throw error;
      await delay(pauseMs);
    }
  return work();
}

/** A lock that was not free in time, and a deadlock: where a server looks for one sooner, that comes first. */
const lostStates = new Set<unknown>(['55P03', '40P01']);

/** Whether an error, or what it was caused by, is a lock that others did not give up. */
export function hasLostLock(error: unknown): boolean {
  const { code, cause } = error as { code?: unknown; cause?: { code?: unknown } };
  return lostStates.has(code) || lostStates.has(cause?.code);
}
