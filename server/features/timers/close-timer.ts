import { listLockedDays } from '../../../db/derived/period-locks.ts';
import { lockDays } from '../../../db/derived/work-time.ts';
import type { Db } from '../../../db/open.ts';
import { cutText, recordChange } from '../../kernel/change-event.ts';
import { changeStream } from '../../kernel/change-streams.ts';
import type { Settings } from '../../kernel/context.ts';
import { notify } from '../notifications/notify.ts';
import { recordTaskLogCreated } from '../tasks/task-log-events.ts';
import { insertTaskLogs, toTaskLog, type NewTaskLog, type TaskLogRow } from '../task-logs/queries.ts';
import { timerStopped } from './events.ts';
import { takeTimer, toTimer, type TimerRow } from './queries.ts';

/** The longest log. */
export const runsAtMostMs = 24 * 3600 * 1000;
/** The description of a log whose timer was not stopped in time. */
const closedNote = 'Closed automatically after 24 hours.';
const runsAtLeastMs = 1000;
const descriptionMax = 10_000;

/** The log of a timer that ends now, without what its project says. */
function logOf({ task_id: taskId, employee_id: employeeId, start_time: startTime, description }: TimerRow, now: Date) {
  const ranMs = now.getTime() - startTime.getTime();
  const endTime = after(startTime, Math.min(Math.max(ranMs, runsAtLeastMs), runsAtMostMs));
  const noted = ranMs >= runsAtMostMs ? withNote(description) : description;
  return { taskId, employeeId, startTime, endTime, description: noted, manualAdd: false };
}

/**
 * Logs the time of a timer that was deleted by its employee; wake the worker after the commit. The time is also logged if
 * the task was deleted.
 */
export async function closeTimer(db: Db, timer: TimerRow, now: Date): Promise<TaskLogRow> {
  return logTimer(db, timer, { ...(await lockProjectOf(db, timer)), actorId: timer.employee_id, now });
}

/** The project of a timer's task, which stays there until the transaction ends. */
async function lockProjectOf(db: Db, { company_id: companyId, task_id: taskId }: TimerRow): Promise<ProjectOfTimer> {
  const { project_id: projectId } = await db
    .selectFrom('tasks')
    .where('company_id', '=', companyId)
    .where('task_id', '=', taskId)
    .select('project_id')
    .forShare()
    .executeTakeFirstOrThrow();
  const { billable } = await db
    .selectFrom('projects')
    .where('company_id', '=', companyId)
    .where('project_id', '=', projectId)
    .select('billable')
    .executeTakeFirstOrThrow();
  return { projectId, billable };
}

type ProjectOfTimer = { projectId: number; billable: boolean };

async function logTimer(
  db: Db,
  timer: TimerRow,
  { projectId, billable, actorId, now }: ProjectOfTimer & { actorId: number | null; now: Date },
): Promise<TaskLogRow> {
  const { company_id: companyId } = timer;
  const made = await insertFree(db, companyId, { ...logOf(timer, now), projectId, billable }, now);
  recordTaskLogCreated(db, { companyId, actorId, taskLog: toTaskLog(made), at: now });
  recordStopped(db, timer, { actorId, taskLogId: made.task_log_id, at: now });
  return made;
}

/**
 * Ends a timer that was deleted without its employee, as {@link closeTimer} does. Where a day of its time is locked,
 * nothing is logged, and the employee is notified: otherwise the timer would run for ever.
 */
export async function endTimer(
  db: Db,
  timer: TimerRow,
  { now, settings }: { now: Date; settings: Settings },
): Promise<TaskLogRow | undefined> {
  const { company_id: companyId, employee_id: employeeId } = timer;
  const { startTime: start, endTime: end } = logOf(timer, now);
  const project = await lockProjectOf(db, timer);
  await lockDays(db, companyId, [employeeId]);
  const locked = await listLockedDays(db, { companyId, employeeId, start, end });
  if (locked.length === 0) return logTimer(db, timer, { ...project, actorId: null, now });
  recordStopped(db, timer, { actorId: null, taskLogId: null, at: now });
  const notification = {
    recipientId: employeeId,
    cause: `timer of ${start.toISOString()} was not logged`,
    appType: 'hr' as const,
    category: 'need_attention' as const,
    priority: 'primary' as const,
    title: 'Your timer ended, and its time was not logged',
    message: `It ran from ${start.toISOString()} to ${end.toISOString()}, and ${locked.join(', ')} is locked: have an admin log the time, or log it on the other days.`,
    link: `${settings.appUrl}/tasks/${timer.task_id}`,
    actorId: null,
    taskId: timer.task_id,
    projectId: project.projectId,
  };
  await notify(db, companyId, [notification], now);
  return undefined;
}

type Stop = { actorId: number | null; taskLogId: number | null; at: Date };

export function recordStopped(db: Db, timer: TimerRow, { actorId, taskLogId, at }: Stop): void {
  recordChange(db, timerStopped, {
    companyId: timer.company_id,
    streams: [changeStream.timers(timer.employee_id)],
    payload: { actorId, timer: toTimer(timer), taskLogId },
    at,
  });
}

/** Ends a timer if it has run 24 hours; returns its log, if there is one. */
export async function endOverdueTimer(
  db: Db,
  { companyId, employeeId, now, settings }: { companyId: number; employeeId: number; now: Date; settings: Settings },
): Promise<TaskLogRow | undefined> {
  const timer = await takeTimer(db, { companyId, employeeId, startedBy: after(now, -runsAtMostMs) });
  return timer && endTimer(db, timer, { now, settings });
}

const after = (moment: Date, ms: number): Date => new Date(moment.getTime() + ms);

function withNote(description: string | null): string {
  const room = descriptionMax - closedNote.length - 1;
  return description === null || description === '' ? closedNote : `${cutText(description, room)}\n${closedNote}`;
}

/** A log entered by hand may start at the same millisecond: then this one starts at the next free one. */
async function insertFree(db: Db, companyId: number, log: NewTaskLog, now: Date): Promise<TaskLogRow> {
  for (let startTime = log.startTime; ; startTime = after(startTime, 1)) {
    const endTime = new Date(Math.max(log.endTime.getTime(), startTime.getTime() + runsAtLeastMs));
    const [made] = await insertTaskLogs(db, { companyId, logs: [{ ...log, startTime, endTime }], now });
    if (made) return made;
  }
}
