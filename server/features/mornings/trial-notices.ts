import { sql } from 'kysely';
import type { Db } from '../../../db/open.ts';
import { batchSize, type Position, type MorningNotice } from './batch.ts';

/** A notice to every active employee of a company whose trial ends in three days, unless it has paid for a plan. */
export async function listTrialNotices(
  db: Db,
  { companyId, day, afterEmployeeId, settings }: Position,
): Promise<MorningNotice[]> {
  const { rows } = await sql<{ employee_id: number; subscription_id: number; ends_on: string; company: string }>`
    select e.employee_id, s.subscription_id, c.name as company, local_day(s.ends_at, c.timezone) as ends_on
    from companies as c
    cross join lateral (
      select subscription_id, ends_at from subscriptions
      where company_id = c.company_id and trial and status = 'trialing'
        and local_day(ends_at, c.timezone) = ${day}::date + 3
      order by subscription_id limit 1
    ) as s
    join employees as e on e.company_id = c.company_id
    where c.company_id = ${companyId} and e.is_active and not e.is_deleted and e.employee_id > ${afterEmployeeId}
      and not exists (
        select from subscriptions as paid
        where paid.company_id = c.company_id and not paid.trial and paid.status = 'active'
          and (paid.ends_at is null or paid.ends_at > s.ends_at)
      )
    order by e.employee_id
    limit ${batchSize}`.execute(db);
  return rows.map((row) => ({
    taskId: 0,
    notification: {
      recipientId: row.employee_id,
      cause: `trial ${row.subscription_id} ends ${row.ends_on}`,
      appType: 'hr',
      category: 'notice',
      priority: 'others',
      title: 'Your trial ends in 3 days',
      message: `The trial of ${row.company} ends on ${row.ends_on}. Admins see all plans in the company's details.`,
      link: settings.appUrl,
      actorId: null,
    },
  }));
}
