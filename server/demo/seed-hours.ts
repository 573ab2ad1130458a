import type { Db } from '../../db/open.ts';
import { holidays, weeks, type PersonKey } from './company.ts';
import { dayOf, daysBefore, type Staff } from './seed-people.ts';

/** Creates the working hours of those who have their own, from long before any log, and the holidays of this year and the next. */
export async function seedHours(db: Db, { companyId, employeeIds }: Staff, now: Date): Promise<void> {
  const entries = (Object.keys(weeks) as PersonKey[]).map((person) => ({
    company_id: companyId,
    employee_id: employeeIds[person],
    valid_from: dayOf(daysBefore(now, 365)),
    minutes: [...weeks[person]!],
  }));
  await db.insertInto('working_hours').values(entries).execute();
  const years = [now.getUTCFullYear(), now.getUTCFullYear() + 1];
  const days = years.flatMap((year) =>
    Object.entries(holidays).map(([day, name]) => ({ company_id: companyId, day: `${year}-${day}`, name })),
  );
  await db.insertInto('holidays').values(days).execute();
}
