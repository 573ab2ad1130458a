import { sql } from 'kysely';
import type { Db } from '../../db/transaction.ts';
import { waitUntil } from './waiting.ts';

/** Resolves when so many statements wait for a lock in this database: others have tests of their own. */
export async function waitForLockWaits(db: Db, count: number): Promise<void> {
  await waitUntil(async () => {
    const { rows } = await sql`
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(db);
    return rows.length >= count;
  });
}
