import { sql } from 'kysely';
import type { Db } from '../../db/open.ts';
import type { Clock } from './clock.ts';
import type { Log } from './log.ts';
import { createPeriodicTask } from './periodic-task.ts';

/*
 * The time of the database, which all nodes share: leases, due times and lifetimes are compared between nodes, and the clock
 * of a machine may be wrong or jump. The time is measured at the start and every ten seconds, and told in between by the
 * monotonic clock of the process. Invariants:
 * - The wall clock of the machine is not read.
 * - The database read its time between the question and the answer, so the time at the answer lies within one round trip. A
 *   measurement moves the clock into these bounds and no further, so a slow answer cannot spoil what a quick one has shown.
 * - While the database does not answer, the last measurement holds.
 */
export type DatabaseClock = Clock & {
  /** Measures once; rejects where the database does not answer. */
  measure(): Promise<void>;
  /** Measures from now on until it is stopped. */
  start(): void;
  stop(): Promise<void>;
};

const intervalMs = 10_000;
/** A greater step than this is told in the log. */
const jumpMs = 1_000;

export async function readDatabaseTime(db: Db): Promise<Date> {
  const { rows } = await sql<{ now: Date }>`select clock_timestamp() as now`.execute(db);
  return rows[0]!.now;
}

/** Measures the time of the database once, and tells it from then on. */
export async function createDatabaseClock(
  readTime: () => Promise<Date>,
  { log, monotonic = () => performance.now() }: { log: Log; monotonic?: () => number },
): Promise<DatabaseClock> {
  /** What the time of the database is ahead of the monotonic clock, in milliseconds. */
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
