import { sql } from 'kysely';
import type { Db } from '../../db/open.ts';
import type { Clock } from './clock.ts';
import type { Log } from './log.ts';
import { createPeriodicTask } from './periodic-task.ts';

/*
 * The time of the database, which all nodes share: leases, due times and lifetimes are compared between nodes, and the
 * clock of a machine may be wrong or jump. The time is measured at the start and every ten seconds; in between, the
 * monotonic clock of the process continues it. Invariants:
 * - The wall clock of the machine is not read.
 * - The database read its time between query and answer, so the time at the answer is known within one round trip. A
 *   measurement moves the clock into these bounds and no further, so a slow answer cannot degrade what a quick one has
 *   shown.
 * - While the database does not answer, the last measurement holds.
 */
export type DatabaseClock = Clock & {
  /** Measures once; rejects if the database does not answer. */
  measure(): Promise<void>;
  /** Starts measuring at intervals, until it is stopped. */
  start(): void;
  stop(): Promise<void>;
};

const intervalMs = 10_000;
/** A larger step than this is logged. */
const jumpMs = 1_000;

export async function readDatabaseTime(db: Db): Promise<Date> {
  const { rows } = await sql<{ now: Date }>`select clock_timestamp() as now`.execute(db);
  return rows[0]!.now;
}

/** Measures the time of the database once, and returns a clock that continues it. */
export async function createDatabaseClock(
  readTime: () => Promise<Date>,
  { log, monotonic = () => performance.now() }: { log: Log; monotonic?: () => number },
): Promise<DatabaseClock> {
  /** The difference between the database's time and the monotonic clock, in milliseconds. */
  let offsetMs: number | undefined;

  async function measure(): Promise<void> {
    const askedAt = monotonic();
    const earliest = (await readTime()).getTime();
    const answeredAt = monotonic();
    const latest = earliest + (answeredAt - askedAt);
    const expected = offsetMs === undefined ? (earliest + latest) / 2 : answeredAt + offsetMs;
    const time = Math.min(Math.max(expected, earliest), latest);
    const stepMs = Math.round(time - expected);
    if (Math.abs(stepMs) > jumpMs) log.warn({ stepMs }, 'the time of the database jumped, and the service follows it');
    offsetMs = time - answeredAt;
  }

  await measure();
  const task = createPeriodicTask({
    firstAfterMs: intervalMs,
    async run() {
      await measure();
      return intervalMs;
    },
    failed(error) {
      log.debug({ err: error }, 'the time of the database could not be measured; the last measurement holds');
      return intervalMs;
    },
  });
  return { now: () => new Date(monotonic() + offsetMs!), measure, start: task.start, stop: task.stop };
}
