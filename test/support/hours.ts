import type { Actor, Answer } from './actor.ts';

/* What tests of working hours, holidays and balances share: the calls. */

/** Minutes from Monday to Sunday where nothing is set. */
export const fullWeek = [480, 480, 480, 480, 480, 0, 0];

export const setHours = (
  admin: Actor,
  employeeId: number,
  validFrom: string,
  minutes: number[] | null,
): Promise<Answer> => admin.put(`/api/working-hours/${employeeId}/`, { validFrom, minutes });

export type Holiday = { date: string; name: string };

export const setHolidays = (admin: Actor, from: string, to: string, holidays: Holiday[]): Promise<Answer> =>
  admin.put(`/api/holidays/${admin.companyId}/`, { from, to, holidays });

export const getBalance = (actor: Actor, from: string, to: string, employeeId = actor.employeeId): Promise<Answer> =>
  actor.get(`/api/balances/${employeeId}/?from=${from}&to=${to}`);

/** The day so many days after another. */
export const dayAfter = (day: string, days: number): string =>
  new Date(Date.parse(day) + days * 24 * 3_600_000).toISOString().slice(0, 10);
