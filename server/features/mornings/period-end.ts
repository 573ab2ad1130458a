import { sql } from 'kysely';
import type { Db } from '../../../db/open.ts';
import { expectedDays } from '../working-hours/queries.ts';
import { batchSize, type Position, type MorningNotice } from './batch.ts';

/**
 * A reminder to each active employee who has not handed in the period that ends today: where periods are approved, and time was
 * logged in it or is expected.
 */
export async function listUnsubmitted(
  db: Db,
  { companyId, day, afterEmployeeId, settings }: Position,
): Promise<MorningNotice[]> {
  const expected = expectedDays({
    company: sql`e.company_id`,
    employee: sql`e.employee_id`,
    from: sql`p.first_day`,
    to: sql`${day}::date`,
  });
  const { rows } = await sql<{ employee_id: number; first_day: string }>`
    select e.employee_id, p.first_day
    from (
      select company_id, period_start(${day}::date, period, week_start) as first_day
      from time_policies
      where company_id = ${companyId} and require_approval and period_end(${day}::date, period, week_start) = ${day}::date
    ) as p
    join employees as e on e.company_id = p.company_id
    where e.is_active and not e.is_deleted and e.employee_id > ${afterEmployeeId}
      and not exists (
        select from timesheet_periods as s
        -- A period has at most 31 days.
        where s.company_id = e.company_id and s.employee_id = e.employee_id and s.first_day between p.first_day - 30 and ${day}::date
          and s.last_day >= p.first_day and s.state in ('submitted', 'approved')
      )
      and (
        exists (
          select from work_days as w
          where w.company_id = e.company_id and w.employee_id = e.employee_id and w.day between p.first_day and ${day}::date
        )
        or exists (select from ${expected} as x where x.minutes > 0)
      )
    order by e.employee_id
    limit ${batchSize}`.execute(db);
  return rows.map((row) => ({
    taskId: 0,
    notification: {
      recipientId: row.employee_id,
      cause: `period ${row.first_day} ends ${day}`,
      appType: 'hr',
      category: 'need_attention',
      priority: 'primary',
      title: 'Hand in your time today',
      message: `The period from ${row.first_day} to ${day} ends today, and its time was not handed in yet.`,
      link: `${settings.appUrl}/timesheet-periods`,
      actorId: null,
    },
  }));
}
