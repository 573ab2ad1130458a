import type { BalancesGetAnswer, TimePolicy, TimesheetPeriod } from 'work-management-client';
import { client, getCompanyId, getMe } from '../client.ts';
import { addDays, startOfWeek } from '../time.ts';

type BalanceDay = BalancesGetAnswer['days'][number];
type Hours = Pick<BalanceDay, 'workingSeconds' | 'expectedSeconds'>;

export type Day = BalanceDay & { isLocked: boolean };

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
  const employee_id = getMe()._id;
  const [{ days }, periods] = await Promise.all([
    client.balances.get({ employee_id, from, to }, { signal }),
    client.timesheetPeriods.list({ company_id, employee_id, from, to }, { signal }),
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
    days: days.filter(({ date }) => isIn(date, week)).map((one) => ({ ...one, isLocked: isLocked(one.date) })),
    period: { firstDay, lastDay, stored, ...sumOf(days.filter(({ date }) => isIn(date, { firstDay, lastDay }))) },
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
    workingSeconds: days.reduce((sum, one) => sum + one.workingSeconds, 0),
    expectedSeconds: days.reduce((sum, one) => sum + one.expectedSeconds, 0),
  };
}
