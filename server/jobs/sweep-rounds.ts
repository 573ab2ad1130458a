import { sql } from 'kysely';
import type { Db } from '../../db/open.ts';

/*
 * Whether the time can be right at which old rows are looked for. Every look, about one an hour from each node, writes its
 * time, so a time far beyond that of the last look means that the service was off for as long, or that the clock is wrong and
 * rows in use look old. Invariants:
 * - A time that is a jump beyond the last look is doubted, and nothing is deleted while it is.
 * - A doubt ends where the clock is set back to before it, or where the time has gone on without a further jump for
 *   `doubtMs`, so an installation that was off for months is not blocked for ever.
 */

const dayMs = 24 * 3_600_000;
/** A longer time between two looks is a jump. */
const jumpMs = 14 * dayMs;
/** So long a wrong clock is noticed: all sessions are over by it. */
const doubtMs = 3 * dayMs;
/** Times of nodes that look at once differ a little. */
const leewayMs = 3_600_000;

/** What was seen where the time is doubted. */
export type Doubt = { now: Date; lastSignOfLife: Date; doubtedSince: Date; sweepsAgainAt: Date };

/** Writes that old rows are looked for at `now`; returns why that time is doubted, undefined where it can be right. */
export async function beginRound(db: Db, now: Date): Promise<Doubt | undefined> {
  // Before the first look, what people did last is the only sign of life.
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
