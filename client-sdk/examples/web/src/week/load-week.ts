import type { TimePolicy, TimesheetPeriod } from 'work-management-client';
import { client, getCompanyId, getMe } from '../client.ts';
import { addDays, startOfWeek, weekdayOf } from '../time.ts';

type Hours = { workedSeconds: number; expectedSeconds: number };

export type Day = Hours & { date: string; isLocked: boolean };

/** The days that are handed in together: a week, or the month in which the week begins. */
export type Period = Hours & {
  firstDay: string;
  lastDay: string;
  /** What the service has of it; null for one that was never handed in. */
  stored: TimesheetPeriod | null;
};

export type LoadedWeek = { days: Day[]; period: Period; policy: TimePolicy };

const weekdays = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const;

/** The first day of the week of a day, as the policy counts weeks. */
export const weekStartOf = (day: string, { weekStart }: TimePolicy): string =>
  startOfWeek(day, weekdays.indexOf(weekStart));

/** One's own hours in the week of a day, and the period in which it begins. */
export async function loadWeek(day: string, signal: AbortSignal): Promise<LoadedWeek> {
  const company_id = getCompanyId();
  const policy = await client.timePolicies.get({ company_id }, { signal });
  const week = toRange(weekStartOf(day, policy), 7);
  const { firstDay, lastDay } = policy.period === 'week' ? week : monthOf(week.firstDay);
  const from = firstDay < week.firstDay ? firstDay : week.firstDay;
  const to = lastDay > week.lastDay ? lastDay : week.lastDay;
  const [hours, periods] = await Promise.all([
    loadHours({ from, to, policy }, signal),
    client.timesheetPeriods.list({ company_id, employee_id: getMe()._id, from, to }, { signal }),
  ]);
  const locking = periods.results.filter(({ status }) => status === 'submitted' || status === 'approved');
  const isLocked = (date: string): boolean =>
    date < (policy.lockedBefore ?? '') || locking.some((period) => isIn(date, period));
  // Before a change of the policy periods may have had another length: one that locks the week goes before.
  const stored =
    locking.find((period) => isIn(week.firstDay, period)) ??
    periods.results.find((period) => period.firstDay === firstDay) ??
    null;
  return {
    days: hours.filter(({ date }) => isIn(date, week)).map((one) => ({ ...one, isLocked: isLocked(one.date) })),
    period: { firstDay, lastDay, stored, ...sumOf(hours.filter(({ date }) => isIn(date, { firstDay, lastDay }))) },
    policy,
  };
}

type Range = { firstDay: string; lastDay: string };

const isIn = (date: string, { firstDay, lastDay }: Range): boolean => date >= firstDay && date <= lastDay;

const toRange = (firstDay: string, days: number): Range => ({ firstDay, lastDay: addDays(firstDay, days - 1) });

function monthOf(day: string): Range {
  const firstDay = `${day.slice(0, 7)}-01`;
  const next = `${addDays(firstDay, 31).slice(0, 7)}-01`;
  return { firstDay, lastDay: addDays(next, -1) };
}

export function sumOf(days: readonly Hours[]): Hours {
  return {
    workedSeconds: days.reduce((sum, one) => sum + one.workedSeconds, 0),
    expectedSeconds: days.reduce((sum, one) => sum + one.expectedSeconds, 0),
  };
}

/** What was worked and expected on each day. */
async function loadHours(
  { from, to, policy }: { from: string; to: string; policy: TimePolicy },
  signal: AbortSignal,
): Promise<(Hours & { date: string })[]> {
  const sheet = await client.timesheets.get(
    { company_id: getCompanyId(), from, to, userId: getMe()._id, groupBy: 'day' },
    { signal },
  );
  const worked = new Map(sheet.groupBy === 'day' ? sheet.rows.map(({ date, seconds }) => [date, seconds]) : []);
  const dates: string[] = [];
  for (let date = from; date <= to; date = addDays(date, 1)) dates.push(date);
  return dates.map((date) => ({
    date,
    workedSeconds: worked.get(date) ?? 0,
    expectedSeconds: (policy.expectedMinutes[weekdayOf(date)] ?? 0) * 60,
  }));
}
