import type { Db } from '../../db/open.ts';

/*
 * Working and logged time by local day, counted minute by minute from what the clocks of a zone show: nothing here is
 * the service's, and nothing here knows intervals, midnights or changes of clocks. For logs of whole minutes.
 */

const minuteMs = 60_000;
/** Longer than clocks are ever put back in the years that tests look at. */
const putBackMinutesMax = 70;

/** Tells the day of a minute: the latest that the clocks have shown so far, for a day that is over does not come back. */
function createCalendar(zone: string): (minute: number) => string {
  const format = new Intl.DateTimeFormat('en-CA', {
    timeZone: zone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  });
  const shown = new Map<number, string>();
  const shownAt = (minute: number): string => {
    let day = shown.get(minute);
    if (day === undefined) shown.set(minute, (day = format.format(minute * minuteMs)));
    return day;
  };
  return (minute) => {
    let day = shownAt(minute);
    for (let back = 1; back <= putBackMinutesMax; back += 1) {
      const earlier = shownAt(minute - back);
      if (earlier > day) day = earlier;
    }
    return day;
  };
}

export type Log = { employee_id: number; start_time: Date; end_time: Date };
/** By `employee day`. */
export type Days = Record<string, { working: number; logged: number }>;

/** Minutes of everybody's days. */
export function countMinutes(logs: readonly Log[], zone: string): Days {
  const dayOf = createCalendar(zone);
  const days: Days = {};
  const seen = new Set<string>();
  for (const { employee_id: employee, start_time, end_time } of logs) {
    for (let minute = start_time.getTime() / minuteMs; minute < end_time.getTime() / minuteMs; minute += 1) {
      const day = (days[`${employee} ${dayOf(minute)}`] ??= { working: 0, logged: 0 });
      day.logged += 1;
      const key = `${employee} ${minute}`;
      if (!seen.has(key)) day.working += 1;
      seen.add(key);
    }
  }
  return days;
}

/** Minutes of everybody's days, as the service keeps them. */
export async function storedMinutes(db: Db, companyId: number): Promise<Days> {
  const rows = await db
    .selectFrom('work_days')
    .where('company_id', '=', companyId)
    .select(['employee_id', 'day', 'working_seconds', 'logged_seconds'])
    .execute();
  return Object.fromEntries(
    rows.map((row) => [
      `${row.employee_id} ${row.day}`,
      { working: row.working_seconds / 60, logged: row.logged_seconds / 60 },
    ]),
  );
}

/** The company's logs, as they are stored. */
export async function listLogs(db: Db, companyId: number): Promise<Log[]> {
  return db
    .selectFrom('task_logs')
    .where('company_id', '=', companyId)
    .select(['employee_id', 'start_time', 'end_time'])
    .execute();
}
