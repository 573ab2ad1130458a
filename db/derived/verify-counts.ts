import { sql, type RawBuilder } from 'kysely';
import type { Db } from '../transaction.ts';
import { filterColumns, talliedNotifications } from './notification-counts.ts';
import { countedCompany } from './task-counts.ts';
import type { Difference } from './verify-work-time.ts';

/** The number of counted rows, and the stored counts that differ. */
export type CountsVerification = {
  checked: { tasks: number; comments: number; notifications: number };
  differences: Difference[];
};

/**
 * Counts a company's tasks, comments and notifications and returns the stored counts that differ. Each kind is read in
 * one statement, so rows may change at the same time.
 */
export async function verifyCounts(db: Db, companyId: number): Promise<CountsVerification> {
  const differences: Difference[] = [];
  const kinds = [taskCounts, companyCounts, commentCounts, notificationCounts, notificationTallies];
  for (const query of kinds.map((kind) => kind(companyId))) differences.push(...(await query.execute(db)).rows);
  const { rows } = await sql<CountsVerification['checked']>`
    select
      (select count(*) from tasks where company_id = ${companyId} and deleted_at is null) as tasks,
      (select count(*) from comments where company_id = ${companyId} and not is_deleted) as comments,
      (select count(*) from notifications where company_id = ${companyId}) as notifications`.execute(db);
  return { checked: rows[0]!, differences };
}

/** Tasks of each owner in each project. Those of a deleted project stay counted; nothing reads them. */
function taskCounts(companyId: number): RawBuilder<Difference> {
  return sql`
    with counted as (
      select t.project_id, t.owner_id,
        count(*) filter (where t.status = 'todo') as todo,
        count(*) filter (where t.status = 'in_progress') as in_progress,
        count(*) filter (where t.status = 'in_review') as in_review,
        count(*) filter (where t.status = 'done') as done,
        count(*) filter (where t.status = 'done' and t.due_date is not null) as done_with_due_date,
        count(*) filter (where t.status = 'done' and local_day(t.completed_at, c.timezone) <= t.due_date) as done_on_time
      from tasks as t join companies as c on c.company_id = t.company_id
      where t.company_id = ${companyId} and t.deleted_at is null
      group by t.project_id, t.owner_id
    )
    select x.name || ' tasks of employee ' || owner_id || ' in project ' || project_id as total,
      coalesce(x.kept, 0)::bigint as kept, coalesce(x.counted, 0) as counted
    from (select * from task_counts where company_id = ${companyId}) as k
    full join counted as c using (project_id, owner_id)
    cross join lateral (values
      ('todo', k.todo, c.todo), ('in_progress', k.in_progress, c.in_progress), ('in_review', k.in_review, c.in_review),
      ('done', k.done, c.done), ('done with due date', k.done_with_due_date, c.done_with_due_date),
      ('done on time', k.done_on_time, c.done_on_time)
    ) as x (name, kept, counted)
    where coalesce(x.kept, 0) <> coalesce(x.counted, 0)
    order by project_id, owner_id`;
}

/** Projects and tasks of the whole company, and tasks of each owner, without those of deleted projects. */
function companyCounts(companyId: number): RawBuilder<Difference> {
  return sql`
    select status || ' ' || kind || 's of ' || case owner_id when 0 then 'the company' else 'employee ' || owner_id end as total,
      coalesce(k.count, 0)::bigint as kept, coalesce(c.count, 0) as counted
    from (
      select kind, owner_id, status, sum(count) as count
      from company_counts where company_id = ${companyId} group by kind, owner_id, status
    ) as k
    full join (${countedCompany(companyId)}) as c using (kind, owner_id, status)
    where coalesce(k.count, 0) <> coalesce(c.count, 0)
    order by kind, owner_id, status`;
}

function commentCounts(companyId: number): RawBuilder<Difference> {
  return sql`
    select 'comments of employee ' || employee_id as total,
      coalesce(k.posted, 0)::bigint as kept, coalesce(c.posted, 0) as counted
    from (select employee_id, posted from comment_counts where company_id = ${companyId}) as k
    full join (
      select sender_id as employee_id, count(*) as posted from comments
      where company_id = ${companyId} and not is_deleted group by sender_id
    ) as c using (employee_id)
    where coalesce(k.posted, 0) <> coalesce(c.posted, 0)
    order by employee_id`;
}

function notificationCounts(companyId: number): RawBuilder<Difference> {
  return sql`
    select x.name || ' notifications of employee ' || employee_id as total,
      coalesce(x.kept, 0)::bigint as kept, coalesce(x.counted, 0) as counted
    from (select employee_id, unread, total from notification_counts where company_id = ${companyId}) as k
    full join (
      select recipient_id as employee_id, count(*) filter (where not is_read) as unread, count(*) as total
      from notifications where company_id = ${companyId} group by recipient_id
    ) as c using (employee_id)
    cross join lateral (values ('unread', k.unread, c.unread), ('all', k.total, c.total)) as x (name, kept, counted)
    where coalesce(x.kept, 0) <> coalesce(x.counted, 0)
    order by employee_id`;
}

/** Notifications of each person by kind and flags. */
function notificationTallies(companyId: number): RawBuilder<Difference> {
  const columns = sql.join(filterColumns.map((name) => sql.ref(name)));
  return sql`
    select concat_ws(' ', 'notifications of employee', employee_id, 'that are', ${columns}) as total,
      coalesce(k.count, 0) as kept, coalesce(c.count, 0) as counted
    from (select * from notification_tallies where company_id = ${companyId}) as k
    full join (${talliedNotifications(companyId)}) as c using (employee_id, ${columns})
    where coalesce(k.count, 0) <> coalesce(c.count, 0)
    order by employee_id, ${columns}`;
}
