import { sql } from 'kysely';
import type { Db } from '../../db/open.ts';

/*
 * Checks that the time of a sweep is plausible. Every sweep, about one an hour from each node, stores its time. A time
 * far beyond the last one means that the service was off for as long, or that the clock is wrong and rows in use look
 * old. Invariants:
 * - A time that jumps far beyond the last sweep is doubted, and nothing is deleted while it is.
 * - A doubt ends if the clock is set back to before it, or if the time has continued without a further jump for
 *   `doubtMs`, so an installation that was off for months is not blocked for ever.
 */

const dayMs = 24 * 3_600_000;
/** A longer time between two sweeps is a jump. */
const jumpMs = 14 * dayMs;
/** In this time a wrong clock is noticed: all sessions end by it. */
const doubtMs = 3 * dayMs;
/** The times of nodes that sweep at once differ a little. */
const leewayMs = 3_600_000;

/** A doubted time, with the times that led to the doubt. */
export type Doubt = { now: Date; lastSignOfLife: Date; doubtedSince: Date; sweepsAgainAt: Date };

/** Stores the time of a sweep; returns why it is doubted, or undefined if it is plausible. */
export async function beginRound(db: Db, now: Date): Promise<Doubt | undefined> {
  // Before the first sweep, the last activity of people is the only sign of life.
  const signs = await sql<{ at: Date | null }>`
    select coalesce(looked_at, greatest((select max(last_used_at) from sessions), (select max(at) from events))) as at
    from sweep_rounds`.execute(db);
  const lastSignOfLife = signs.rows[0]?.at ?? now;
  const before = (ms: number) => new Date(now.getTime() - ms);
  const { rows } = await sql<{ doubtedSince: Date | null }>`
    update sweep_rounds set looked_at = ${now}, doubted_since = case
      when coalesce(looked_at, ${lastSignOfLife}) < ${before(jumpMs)} then ${now}::timestamptz
      when doubted_since between ${before(doubtMs)} and ${before(-leewayMs)} then doubted_since
    end
    returning doubted_since as "doubtedSince"`.execute(db);
  const doubtedSince = rows[0]?.doubtedSince;
  if (!doubtedSince) return undefined;
  return { now, lastSignOfLife, doubtedSince, sweepsAgainAt: new Date(doubtedSince.getTime() + doubtMs) };
}
