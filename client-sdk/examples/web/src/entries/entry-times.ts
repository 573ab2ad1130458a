import { isApiError, type TaskLog } from 'work-management-client';
import { addDays, dayIn, dayInWords } from '../time.ts';
import { addMinutes, momentOf, wallTimeOf } from './wall-time.ts';

/** Time on a task as a form has it: by the clocks of the company. An end before the start is on the next day. */
export type EntryValues = {
  projectId: number | null;
  taskId: number | null;
  day: string;
  start: string;
  end: string;
  description: string;
};

export type EntryTask = { _id: number; title: string; projectId: number };

export function valuesOf(log: TaskLog, timezone: string): EntryValues {
  const start = wallTimeOf(log.startTime, timezone);
  return {
    projectId: log.projectId,
    taskId: log.taskId,
    day: start.day,
    start: start.time,
    end: wallTimeOf(log.endTime, timezone).time,
    description: log.description ?? '',
  };
}

/** What a new entry begins with: the last hour of today, or an hour in the morning of another day. */
export function newValues(day: string | undefined, task: EntryTask | undefined, timezone: string): EntryValues {
  const now = wallTimeOf(Date.now(), timezone);
  const isToday = day === undefined || day === dayIn(timezone);
  const end = isToday && now.time >= '01:00' ? addMinutes(now.time, -(Number(now.time.slice(3)) % 5)) : '10:00';
  return {
    projectId: task?.projectId ?? null,
    taskId: task?._id ?? null,
    day: day ?? now.day,
    start: addMinutes(end, -60),
    end,
    description: '',
  };
}

export const endsNextDay = ({ start, end }: EntryValues): boolean => end < start;

/** When an entry begins and ends. */
export function timesOf(values: EntryValues, timezone: string): { startTime: string; endTime: string } {
  const { day, start, end } = values;
  return {
    startTime: momentOf({ day, time: start }, timezone),
    endTime: momentOf({ day: endsNextDay(values) ? addDays(day, 1) : day, time: end }, timezone),
  };
}

/** The days of which the service says that they are locked, in words. */
export function lockedDays(error: unknown): string | null {
  if (!isApiError(error, 'PERIOD_LOCKED')) return null;
  const days = error.issues.flatMap(({ message }) => /\d{4}-\d\d-\d\d/.exec(message)?.[0] ?? []);
  const inWords = days.map((day) => dayInWords(day, { weekday: 'long', day: 'numeric', month: 'long' }));
  return inWords.length === 0 ? 'This day' : inWords.join(' and ');
}
