import { sql } from 'kysely';
import type { Db } from '../transaction.ts';
import { onEachStatement } from './triggers.ts';

/*
 * `notification_counts`: the total and unread notifications of a recipient. Every change of a recipient's notifications
 * locks this row first.
 * `notification_tallies`: how many notifications there are of each kind and with which flags, so that the total of a
 * list costs the same for every filter.
 */

/** The columns that lists are filtered by. */
export const filterColumns = [
  'app_type',
  'category',
  'priority',
  'is_mention',
  'is_read',
  'is_starred',
  'is_later',
  'is_archived',
] as const;

const columnList = filterColumns.join(', ');

/** Only the first notification of a recipient finds no row to update. */
const addToCounts = (changes: string, event: 'insert' | 'update' | 'delete'): string => {
  const net = `
    select company_id, recipient_id, coalesce(sum(sign) filter (where not is_read), 0) as unread, sum(sign) as total
    from ${changes} as n
    group by company_id, recipient_id having sum(sign) <> 0 or sum(sign) filter (where not is_read) <> 0
    order by company_id, recipient_id`;
  return event === 'insert'
    ? `insert into notification_counts as c (company_id, employee_id, unread, total) ${net}
      on conflict (company_id, employee_id) do update set unread = c.unread + excluded.unread, total = c.total + excluded.total;`
    : `update notification_counts as c set unread = c.unread + n.unread, total = c.total + n.total from (${net}) as n
      where c.company_id = n.company_id and c.employee_id = n.recipient_id;`;
};

export const notificationCounts = onEachStatement('notifications', 'derive_notification_counts', {
  body: (changes, event) => `
    ${addToCounts(changes, event)}

    insert into notification_tallies as t (company_id, employee_id, ${columnList}, count)
    select company_id, recipient_id, ${columnList}, sum(sign) from ${changes} as n
    group by company_id, recipient_id, ${columnList} having sum(sign) <> 0
    order by company_id, recipient_id, ${columnList}
    on conflict (company_id, employee_id, ${columnList}) do update set count = t.count + excluded.count;`,
});

/** The rows that `notification_tallies` should hold for a company: (employee_id, the columns, count). */
export const talliedNotifications = (companyId: number) => sql`
  select recipient_id as employee_id, ${sql.raw(columnList)}, count(*) as count
  from notifications where company_id = ${companyId} group by recipient_id, ${sql.raw(columnList)}`;

/** Recomputes both for a company. No other transaction may write in it at the same time. */
export async function recomputeNotificationCounts(db: Db, companyId: number): Promise<void> {
  await sql`
    update notification_counts as c set total = coalesce(n.total, 0), unread = coalesce(n.unread, 0)
    from employees as e
    left join (
      select recipient_id, count(*) as total, count(*) filter (where not is_read) as unread
      from notifications where company_id = ${companyId} group by recipient_id
    ) as n on n.recipient_id = e.employee_id
    where c.company_id = ${companyId} and e.company_id = c.company_id and e.employee_id = c.employee_id`.execute(db);
  await db.deleteFrom('notification_tallies').where('company_id', '=', companyId).execute();
  await sql`
    insert into notification_tallies (company_id, employee_id, ${sql.raw(columnList)}, count)
    select ${companyId}::bigint, employee_id, ${sql.raw(columnList)}, count
    from (${talliedNotifications(companyId)}) as n`.execute(db);
}
