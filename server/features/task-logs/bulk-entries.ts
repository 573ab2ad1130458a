import { z } from 'zod';
import type { Db } from '../../../db/open.ts';
import { findLockedDays, notFoundIssue, periodLocked } from '../../errors/errors.ts';
import type { Issue } from '../../errors/issues.ts';
import { idOf } from '../../kernel/wire/fields.ts';
import { timestamp } from '../../kernel/wire/moments.ts';
import { listNames } from '../employees/queries.ts';
import type { VisibleTask } from '../tasks/queries.ts';
import type { TaskLogRow } from './queries.ts';
import { logBillable, logDescription } from './schemas.ts';
import { findTimeIssues } from './times.ts';

const entriesMax = 1_000;
const size = 'must have 1 to 1,000 entries';

const Entry = z.object({
  taskId: idOf('task'),
  userId: idOf('employee').meta({ description: 'The employee of the path' }),
  startTime: timestamp,
  endTime: timestamp,
  description: logDescription,
  billable: logBillable,
  manualAdd: z.boolean().default(true).meta({ description: 'Entered by hand, not taken by a timer' }),
});

export const entries = z.array(Entry).min(1, size).max(entriesMax, size);
type Entries = z.output<typeof entries>;

/** The issues of entries beyond their shape, each with its index. */
export async function findEntryIssues(
  db: Db,
  {
    companyId,
    employeeId,
    entries,
    tasks,
    now,
  }: { companyId: number; employeeId: number; entries: Entries; tasks: ReadonlyMap<number, VisibleTask>; now: Date },
): Promise<Issue[]> {
  const others = entries.map(({ userId }) => userId).filter((userId) => userId !== employeeId);
  const colleagues = others.length === 0 ? new Map() : await listNames(db, companyId, others);
  return entries.flatMap((entry, index) => {
    const issues: Issue[] = [];
    const at = (field: keyof typeof entry) => ['entries', index, field];
    if (!tasks.has(entry.taskId)) issues.push(notFoundIssue(...at('taskId')));
    if (colleagues.has(entry.userId))
      issues.push({ path: at('userId'), message: 'must be the employee of the path', code: 'mismatch' });
    else if (entry.userId !== employeeId) issues.push(notFoundIssue(...at('userId')));
    const fields = { start: at('startTime'), end: at('endTime') };
    return [...issues, ...findTimeIssues({ start: entry.startTime, end: entry.endTime }, now, fields)];
  });
}

/** Rethrows an error; that for locked days names each entry on one by its index. */
export function refuseLocked(error: unknown, entries: Entries): never {
  const days = findLockedDays(error);
  if (!days) throw error;
  const spans = days.map((one) => ({ ...one, from: Date.parse(one.day_start), to: Date.parse(one.day_end) }));
  const issues = entries.flatMap(({ startTime, endTime }, index) =>
    spans
      .filter(({ from, to }) => startTime.getTime() < to && endTime.getTime() > from)
      .map(({ day }) => ({ path: ['entries', index], message: `${day} is locked`, code: 'locked' as const })),
  );
  throw periodLocked(
    days.map(({ day }) => day),
    { issues, cause: error },
  );
}

/** Pairs entries with the logs they became, in the order of the entries, and lists duplicates. */
export function partition(entries: Entries, made: readonly TaskLogRow[]) {
  const keyOf = (taskId: number, start: Date) => `${taskId} ${start.getTime()}`;
  const rows = new Map(made.map((row) => [keyOf(row.task_id, row.start_time), row]));
  const created: TaskLogRow[] = [];
  const skipped: { index: number; taskId: number; userId: number; startTime: Date; reason: 'duplicate' }[] = [];
  for (const [index, { taskId, userId, startTime }] of entries.entries()) {
    const key = keyOf(taskId, startTime);
    const row = rows.get(key);
    if (row) created.push(row);
    else skipped.push({ index, taskId, userId, startTime, reason: 'duplicate' });
    // The first of several equal entries was stored.
    rows.delete(key);
  }
  return { created, skipped };
}
