import type { Db } from '../../../db/open.ts';
import { addLoggedTime, settleAllocation, type ExceededProject } from './allocation.ts';

type CountedLog = { project_id: number; duration_seconds: number };

/** A log before and after a change: a new one has no before, a deleted one no after. */
export type LogChange = { before?: CountedLog; after?: CountedLog };

/**
 * Takes changed logs over into every total that is kept of them, in the transaction of the change.
 * Answers which of the projects touched exceed their allocation now; wake the deliveries after the commit.
 */
export async function keepTotals(
  db: Db,
  { companyId, changes, now }: { companyId: number; changes: readonly LogChange[]; now: Date },
): Promise<ExceededProject[]> {
  const seconds = new Map<number, number>();
  const add = (log: CountedLog, sign: 1 | -1) =>
    seconds.set(log.project_id, (seconds.get(log.project_id) ?? 0) + sign * log.duration_seconds);
  for (const { before, after } of changes) {
    if (before) add(before, -1);
    if (after) add(after, 1);
  }
  await addLoggedTime(db, { companyId, changes: seconds, now });
  return settleAllocation(db, { companyId, projectIds: [...seconds.keys()], now });
}
