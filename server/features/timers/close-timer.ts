import type { Db } from '../../../db/open.ts';
import { recordChange } from '../../kernel/change-event.ts';
import { changeStream } from '../../kernel/change-streams.ts';
import { recordTaskLogCreated } from '../tasks/task-log-events.ts';
import { insertTaskLogs, toTaskLog, type TaskLogRow } from '../task-logs/queries.ts';
import { timerStopped } from './events.ts';
import { takeTimer, toTimer, type TimerRow } from './queries.ts';

/** The longest log. */
export const runsAtMostMs = 24 * 3600 * 1000;
/** The description of a log whose timer was not stopped in time. */
const closedNote = 'Closed automatically after 24 hours.';
const runsAtLeastMs = 1000;
const descriptionMax = 10_000;

/**
 * Logs the time of a timer that was deleted; wake the worker after the commit. The time is also logged if the task was
 * deleted. `actorId` is null if the service closes it.
 */
export async function closeTimer(
  db: Db,
  timer: TimerRow,
  { actorId, now }: { actorId: number | null; now: Date },
): Promise<TaskLogRow> {
  const { company_id: companyId, task_id: taskId, employee_id: employeeId, start_time: startTime } = timer;
  // Locked in its project until the log is stored.
  const { project_id: projectId } = await db
    .selectFrom('tasks')
    .where('company_id', '=', companyId)
    .where('task_id', '=', taskId)
    .select('project_id')
    .forShare()
    .executeTakeFirstOrThrow();
  const ranMs = now.getTime() - startTime.getTime();
  const description = ranMs >= runsAtMostMs ? withNote(timer.description) : timer.description;
  const endTime = after(startTime, Math.min(Math.max(ranMs, runsAtLeastMs), runsAtMostMs));
  const log = { taskId, employeeId, projectId, startTime, endTime, description, manualAdd: false };
  const made = await insertFree(db, companyId, log, now);
  recordTaskLogCreated(db, { companyId, actorId, taskLog: toTaskLog(made), at: now });
  recordChange(db, timerStopped, {
    companyId,
    streams: [changeStream.timers(employeeId)],
    payload: { actorId, timer: toTimer(timer), taskLogId: made.task_log_id },
    at: now,
  });
  return made;
}

/** Closes a timer if it has run 24 hours; returns its log. */
export async function closeOverdueTimer(
  db: Db,
  { companyId, employeeId, now }: { companyId: number; employeeId: number; now: Date },
): Promise<TaskLogRow | undefined> {
  const timer = await takeTimer(db, { companyId, employeeId, startedBy: after(now, -runsAtMostMs) });
  return timer && closeTimer(db, timer, { actorId: null, now });
}

const after = (moment: Date, ms: number): Date => new Date(moment.getTime() + ms);

function withNote(description: string | null): string {
  const room = descriptionMax - closedNote.length - 1;
  return description === null || description === '' ? closedNote : `${description.slice(0, room)}\n${closedNote}`;
}

type TimerLog = Parameters<typeof insertTaskLogs>[1]['logs'][number];

/** A log entered by hand may start at the same millisecond: then this one starts at the next free one. */
async function insertFree(db: Db, companyId: number, log: TimerLog, now: Date): Promise<TaskLogRow> {
  for (let startTime = log.startTime; ; startTime = after(startTime, 1)) {
    const endTime = new Date(Math.max(log.endTime.getTime(), startTime.getTime() + runsAtLeastMs));
    const [made] = await insertTaskLogs(db, { companyId, logs: [{ ...log, startTime, endTime }], now });
    if (made) return made;
  }
}
