import { isApiError, type Client } from 'work-management-client';
import { plainJson } from '../examples/terminal/plain-text.ts';
import { findCaller } from './caller.ts';
import { connect, notSignedIn } from './connect.ts';
import { durationText, findRoom, nextDay, parseDay, parseDuration, type Span } from './durations.ts';
import { lookUp, titleOf } from './look-up.ts';
import { Name } from './parse-value.ts';
import { UsageProblem } from './problem.ts';
import { localDay, localTime } from './show.ts';
import { jsonFlags, type Shortcut } from './shortcuts.ts';

export const log: Shortcut = {
  help: `
Usage: wms log <duration> <task> [--on DAY] [--at HH:MM] [--note TEXT]

Logs your time on a task. <duration> is 2h, 1h30m, 90m or 1.5h, and <task> a
number or a title. Without --at it is put where nothing is logged yet and no
timer runs: today it ends now, on another day it begins at nine.

Flags:
  --on DAY       today, yesterday or YYYY-MM-DD; today unless given
  --at HH:MM     when it began, by the clocks of this machine
  --note TEXT    what the time was for
  --[no-]billable  whether it is charged; as the project says unless given
  --json         the log as the service answers it

Example:
  wms log 2h "Winter fair" --on yesterday --note "Stand plan"

\`wms task-logs create\` takes every field of a log.
`,
  flags: {
    ...jsonFlags,
    on: { type: 'string' },
    at: { type: 'string' },
    note: { type: 'string' },
    billable: { type: 'boolean' },
    'no-billable': { type: 'boolean' },
  },
  async run({ values, operands }, { signal, isJson, print }) {
    const { on = 'today', at, note, billable, 'no-billable': isFree } = values;
    const [length = '', task, ...more] = operands;
    const seconds = parseDuration(length);
    if (seconds === undefined || task === undefined || more.length > 0)
      throw new UsageProblem(
        'Write `wms log <duration> <task>`, such as `wms log 1h30m "Winter fair"`; 24 hours at most.',
      );
    const now = new Date();
    const day = parseDay(String(on), now);
    if (!day) throw new UsageProblem(`--on is today, yesterday or a day as 2026-03-02, not "${String(on)}".`);
    const given = at === undefined ? undefined : startOf(day, String(at));

    const { client, url, by } = connect();
    if (by === 'nothing') throw notSignedIn(url);
    const task_id = /^\d+$/.test(task) ? Number(task) : await lookUp(client, new Name('task', task), signal);
    const span =
      given === undefined
        ? findRoom(seconds * 1000, day, await readTaken(client, day, signal), now)
        : { start: given, end: given + seconds * 1000 };
    if (!span)
      throw new UsageProblem(`There is no room for ${durationText(seconds)} on ${localDay(day)}: say --at HH:MM.`);
    const made = await client.taskLogs.create(
      {
        task_id,
        start_time: new Date(span.start).toISOString(),
        end_time: new Date(span.end).toISOString(),
        ...(typeof note === 'string' && { description: note }),
        ...(billable === true && { billable: true }),
        ...(isFree === true && { billable: false }),
      },
      { signal },
    );
    if (isJson) print(`${plainJson(made, 2)}\n`);
    else {
      const title = await titleOf(client, task_id, signal);
      const [from, until] = [made.startTime, made.endTime].map((at) => localTime(at) + offsetOf(day, at));
      const span = `${from} to ${until!.slice('2026-03-02 '.length)}`;
      print(`Logged ${durationText(made.durationSeconds)} on ${title}: ${span}.\n`);
    }
    client.close();
  },
};

function startOf(day: Date, at: string): number {
  const [, hour, minute] = /^([01]?\d|2[0-3]):([0-5]\d)$/.exec(at) ?? [];
  if (hour === undefined) throw new UsageProblem(`--at is a time as 14:30, not "${at}".`);
  // A time that comes twice, on the day on which summer time ends, is the first one, as in calendars.
  const start = new Date(day.getFullYear(), day.getMonth(), day.getDate(), Number(hour), Number(minute));
  // Otherwise an hour later would be logged, on the day on which summer time begins.
  if (start.getHours() !== Number(hour) || start.getMinutes() !== Number(minute))
    throw new UsageProblem(`The clocks here skip ${at} on ${localDay(day)}: say another --at.`);
  return start.getTime();
}

/** ` GMT+0200` on a day on which the clocks change, where a time may come twice. */
function offsetOf(day: Date, at: string): string {
  const isChange = day.getTimezoneOffset() !== nextDay(day).getTimezoneOffset();
  return isChange ? new Date(at).toTimeString().slice('02:30:00'.length, '02:30:00 GMT+0200'.length) : '';
}

/**
 * One's own logs that touch a day or the one before, and what the timer that runs will log. Days of timesheets are those
 * of the company, whose clocks may be 25 hours away, so two more on each side are read.
 */
async function readTaken(client: Client, day: Date, signal: AbortSignal): Promise<Span[]> {
  const caller = await findCaller(client, signal);
  if (!caller) return [];
  const dayBefore = nextDay(day, -1);
  const range = { from: localDay(nextDay(day, -3)), to: localDay(nextDay(day, 2)) };
  const sheet = await client.timesheets.get({ ...range, userId: caller.employeeId, groupBy: 'task' }, { signal });
  const running = await client.timers.get({}, { signal });
  const taken: Span[] = 'timer' in running ? [] : [{ start: Date.parse(running.startTime), end: Infinity }];
  for (const row of sheet.rows) {
    if (!('taskId' in row)) continue;
    const answer = await client.taskLogs.listByTask({ taskId: row.taskId }, { signal }).catch((error: unknown) => {
      // Timesheets keep the time on deleted tasks, but their logs are not answered any more.
      if (isApiError(error, 'NOT_FOUND')) return { taskLogs: [] };
      throw error;
    });
    for (const { userId, startTime, endTime } of answer.taskLogs) {
      const span = { start: Date.parse(startTime), end: Date.parse(endTime) };
      if (userId === caller.employeeId && span.end > dayBefore.getTime() && span.start < nextDay(day).getTime())
        taken.push(span);
    }
  }
  return taken;
}
