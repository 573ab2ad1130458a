import type { Database } from '../../db/open.ts';
import { createDatabaseClock, readDatabaseTime, type DatabaseClock } from '../platform/database-clock.ts';
import type { Log } from '../platform/log.ts';

/** A machine whose clock differs by more is named in the log. */
const differenceMaxMs = 2_000;

/** The clock of the service: the database's. The embedded database has that of this process. */
export async function openClock(
  { kind, db }: Database,
  log: Log,
): Promise<Pick<DatabaseClock, 'now' | 'start' | 'stop'>> {
  if (kind === 'embedded') return { now: () => new Date(), start() {}, stop: async () => {} };
  const clock = await createDatabaseClock(() => readDatabaseTime(db), { log });
  const aheadMs = Date.now() - clock.now().getTime();
  if (Math.abs(aheadMs) > differenceMaxMs)
    log.warn({ aheadMs }, 'the clock of this machine is not that of the database, which the service goes by');
  return clock;
}
