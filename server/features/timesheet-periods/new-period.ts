import { sql } from 'kysely';
import type { Db } from '../../../db/open.ts';
import type { PolicyRow } from '../time-policies/queries.ts';
import { expectedDaysOf } from '../working-hours/queries.ts';

type Asked = { companyId: number; employeeId: number; firstDay: string; policy: PolicyRow; now: Date };
type Facts = { starts: string; ends: string; has_begun: boolean; is_submitted: boolean; has_timer: boolean };

/** The period that contains the day, and what stands against handing it in. */
export async function readFacts(db: Db, { companyId, employeeId, firstDay, policy, now }: Asked): Promise<Facts> {
  const { rows } = await sql<Facts>`
    select d.starts, d.ends, d.starts <= local_day(${now}, c.timezone) as has_begun,
      exists (
        select from timesheet_periods as p
        where p.company_id = c.company_id and p.employee_id = ${employeeId} and p.first_day <= d.ends
          and p.last_day >= d.starts and p.state in ('submitted', 'approved')
      ) as is_submitted,
      exists (
        select from timers as t
        where t.company_id = c.company_id and t.employee_id = ${employeeId}
          and t.start_time < local_day_start(d.ends + 1, c.timezone)
          and ${now} >= local_day_start(d.starts, c.timezone)
      ) as has_timer
    from companies as c cross join (
      select period_start(${firstDay}::date, ${policy.period}, ${policy.week_start}) as starts,
        period_end(${firstDay}::date, ${policy.period}, ${policy.week_start}) as ends
    ) as d
    where c.company_id = ${companyId}`.execute(db);
  return rows[0]!;
}

type NewPeriod = Asked & { lastDay: string; actorId: number };

/** Stores the period in place of what is open of its days: they may have belonged to periods of another length. */
export async function storePeriod(db: Db, period: NewPeriod): Promise<void> {
  const { companyId, employeeId, firstDay, lastDay, policy, actorId, now } = period;
  await db
    .deleteFrom('timesheet_periods')
    .where('company_id', '=', companyId)
    .where('employee_id', '=', employeeId)
    .where('first_day', '!=', firstDay)
    .where('first_day', '<=', lastDay)
    .where('last_day', '>=', firstDay)
    .execute();
  const days = expectedDaysOf({ companyId, employeeId, from: firstDay, to: lastDay });
  const values = {
    last_day: lastDay,
    state: policy.require_approval ? 'submitted' : 'approved',
    submitted_by_id: actorId,
    submitted_at: now,
    decided_by_id: null,
    decided_at: policy.require_approval ? null : now,
    note: null,
    expected_minutes: sql<number>`(select sum(minutes) from ${days} as e)`,
    snapshot: sql<string>`period_snapshot(${companyId}, ${employeeId}, ${firstDay}::date, ${lastDay}::date)`,
  };
  await db
    .insertInto('timesheet_periods')
    .values({ company_id: companyId, employee_id: employeeId, first_day: firstDay, ...values })
    .onConflict((conflict) => conflict.columns(['company_id', 'employee_id', 'first_day']).doUpdateSet(values))
    .execute();
}
