import type { Db } from '../../db/open.ts';
import { storePeriod } from '../features/timesheet-periods/new-period.ts';
import { ensurePolicy, readPolicy } from '../features/time-policies/queries.ts';
import { company, periods, type PersonKey } from './company.ts';
import { dayOf, daysBefore, type Staff } from './seed-people.ts';

const hourMs = 3_600_000;

/** Has periods approved, and hands in the week before this one for some people. Nobody is notified of it. */
export async function seedPeriods(db: Db, { companyId, employeeIds }: Staff, now: Date): Promise<void> {
  await ensurePolicy(db, companyId);
  await db.updateTable('time_policies').set({ require_approval: true }).where('company_id', '=', companyId).execute();
  const policy = await readPolicy(db, companyId);
  const today = new Date(new Intl.DateTimeFormat('en-CA', { timeZone: company.timezone }).format(now));
  const monday = daysBefore(today, (today.getUTCDay() + 6) % 7);
  const [firstDay, lastDay] = [dayOf(daysBefore(monday, 7)), dayOf(daysBefore(monday, 1))];
  for (const [person, decision] of Object.entries(periods)) {
    const employeeId = employeeIds[person as PersonKey];
    const submittedAt = new Date(now.getTime() - 5 * hourMs);
    await storePeriod(db, {
      companyId,
      employeeId,
      firstDay,
      lastDay,
      policy,
      actorId: employeeId,
      now: submittedAt,
    });
    if (decision === null) continue;
    const { state, by, note } = decision;
    await db
      .updateTable('timesheet_periods')
      .set({ state, decided_by_id: employeeIds[by], decided_at: new Date(now.getTime() - 2 * hourMs), note })
      .where('company_id', '=', companyId)
      .where('employee_id', '=', employeeId)
      .execute();
  }
}
