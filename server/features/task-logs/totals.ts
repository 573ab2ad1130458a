import type { Db } from '../../../db/open.ts';
import { addLoggedTime } from './allocation.ts';
import type { NewTaskLog, TaskLogRow } from './queries.ts';
import { keepWorkDays, type Period } from './work-days.ts';

type CountedLog = Pick<TaskLogRow, 'employee_id' | 'project_id' | 'start_time' | 'end_time' | 'duration_seconds'>;

/** A log as it is about to be written, with the duration that the database gives it. */
export const toCounted = (log: Omit<NewTaskLog, 'description' | 'manualAdd'>): CountedLog => ({
  employee_id: log.employeeId,
  project_id: log.projectId,
  start_time: log.startTime,
  end_time: log.endTime,
  duration_seconds: Math.round((log.endTime.getTime() - log.startTime.getTime()) / 1000),
});

/** A log before and after a change: a new one has no before, a deleted one no after. */
export type LogChange = { before?: CountedLog; after?: CountedLog };

/**
 * Takes changed logs over into every total that is kept of them, in the transaction of the change.
 * Wake the deliveries after the commit: a project may have crossed its allocation.
 */
export async function keepTotals(
  db: Db,
  { companyId, changes, now }: { companyId: number; changes: readonly LogChange[]; now: Date },
): Promise<void> {
  if (changes.length === 0) return;
  const periods = changes.filter(movesTime).flatMap(({ before, after }) => [...periodOf(before), ...periodOf(after)]);
  const seconds = new Map<number, number>();
  const add = (log: CountedLog, sign: 1 | -1) =>
    seconds.set(log.project_id, (seconds.get(log.project_id) ?? 0) + sign * log.duration_seconds);
  for (const { before, after } of changes) {
    if (before) add(before, -1);
    if (after) add(after, 1);
  }
  // None needs the answer of another: they go out at once, and run in this order.
  await Promise.all([
    periods.length > 0 && keepWorkDays(db, companyId, { periods, hadLogs: changes.some(({ before }) => before) }),
    addLoggedTime(db, { companyId, changes: seconds, now }),
  ]);
}

/** Whether the change is more than one of words, task or project. */
function movesTime({ before, after }: LogChange): boolean {
  return (
    before?.employee_id !== after?.employee_id ||
    before?.start_time.getTime() !== after?.start_time.getTime() ||
    before?.end_time.getTime() !== after?.end_time.getTime()
  );
}

function periodOf(log: CountedLog | undefined): Period[] {
  return log ? [{ employeeId: log.employee_id, start: log.start_time, end: log.end_time }] : [];
}
