import { sql } from 'kysely';
import { companyDays } from '../../../db/derived/work-time.ts';
import type { Db } from '../../../db/open.ts';

/*
 * Statistics from stored counters: time by day and person, tasks by project and owner, comments by sender. Figures that
 * depend on today (overdue, this week) are counted through narrow indexes. Nothing here reads all tasks or all logs.
 * Each query is one statement, so its figures are of one moment, and it uses the time zone of the stored days.
 */

export type Statistics = {
  projects: number;
  projects_active: number;
  todo: number;
  in_progress: number;
  in_review: number;
  done: number;
  overdue: number;
  completed_this_week: number;
  seconds_today: number;
  seconds_this_week: number;
  seconds_this_month: number;
  seconds_total: number;
  employees: number;
  employees_active: number;
};

export async function findStatistics(db: Db, companyId: number, now: Date): Promise<Statistics> {
  const { rows } = await sql<Statistics>`
    with today as (
      select day, day - (extract(isodow from day)::integer - 1) as monday, timezone
      from (
        select local_day(${now}::timestamptz, timezone) as day, timezone from companies where company_id = ${companyId}
      ) as company
    ), projects_counted as (
      select coalesce(sum(count), 0) as projects, coalesce(sum(count) filter (where status = 'active'), 0) as projects_active
      from company_counts where company_id = ${companyId} and kind = 'project' and owner_id = 0
    ), tasks_counted as (
      select coalesce(sum(count) filter (where status = 'todo'), 0) as todo,
        coalesce(sum(count) filter (where status = 'in_progress'), 0) as in_progress,
        coalesce(sum(count) filter (where status = 'in_review'), 0) as in_review,
        coalesce(sum(count) filter (where status = 'done'), 0) as done
      from company_counts where company_id = ${companyId} and kind = 'task' and owner_id = 0
    ), overdue as (
      select count(*) as overdue
      from tasks as t join projects as p on p.company_id = t.company_id and p.project_id = t.project_id
      where t.company_id = ${companyId} and t.deleted_at is null and p.deleted_at is null
        and t.status <> 'done' and t.due_date < (select day from today)
    ), completed as (
      select count(*) as completed_this_week
      from tasks as t join projects as p on p.company_id = t.company_id and p.project_id = t.project_id
      where t.company_id = ${companyId} and t.deleted_at is null and p.deleted_at is null
        and t.completed_at >= (select local_day_start(monday, timezone) from today)
        and t.completed_at < (select local_day_start(monday + 7, timezone) from today)
    ), seconds as (
      select coalesce(sum(d.logged_seconds), 0) as seconds_total,
        coalesce(sum(d.logged_seconds) filter (where d.day = t.day), 0) as seconds_today,
        coalesce(sum(d.logged_seconds) filter (where d.day between t.monday and t.monday + 6), 0) as seconds_this_week,
        coalesce(sum(d.logged_seconds) filter (
          where date_trunc('month', d.day::timestamp) = date_trunc('month', t.day::timestamp)), 0) as seconds_this_month
      from ${companyDays(companyId)} as d cross join today as t
    ), people as (
      select count(*) as employees, count(*) filter (where is_active) as employees_active
      from employees where company_id = ${companyId} and not is_deleted
    )
    select * from projects_counted, tasks_counted, overdue, completed, seconds, people`.execute(db);
  return rows[0]!;
}

export type Performance = {
  employee_id: number;
  name: string;
  logged_seconds: number;
  assigned: number;
  done: number;
  overdue: number;
  done_with_due_date: number;
  done_on_time: number;
  posted: number;
  last_activity_at: Date | null;
};

/** The figures of every active employee, or of one of them. */
export async function listPerformance(
  db: Db,
  companyId: number,
  { only, now }: { only: number | null; now: Date },
): Promise<Performance[]> {
  const { rows } = await sql<Performance>`
    with today as (
      select local_day(${now}::timestamptz, timezone) as day from companies where company_id = ${companyId}
    ), owned as (
      select c.owner_id, sum(c.todo + c.in_progress + c.in_review + c.done) as assigned, sum(c.done) as done,
        sum(c.done_with_due_date) as done_with_due_date, sum(c.done_on_time) as done_on_time
      from task_counts as c
      join projects as p on p.company_id = c.company_id and p.project_id = c.project_id
      where c.company_id = ${companyId} and p.deleted_at is null
        and (${only}::bigint is null or c.owner_id = ${only}::bigint)
      group by c.owner_id
    ), late as (
      select t.owner_id, count(*) as overdue
      from tasks as t join projects as p on p.company_id = t.company_id and p.project_id = t.project_id
      where t.company_id = ${companyId} and t.deleted_at is null and p.deleted_at is null
        and t.status <> 'done' and t.due_date < (select day from today)
      group by t.owner_id
    )
    select e.employee_id, e.name,
      coalesce(w.logged_seconds, 0) as logged_seconds,
      coalesce(owned.assigned, 0) as assigned,
      coalesce(owned.done, 0) as done,
      coalesce(late.overdue, 0) as overdue,
      coalesce(owned.done_with_due_date, 0) as done_with_due_date,
      coalesce(owned.done_on_time, 0) as done_on_time,
      coalesce(k.posted, 0) as posted,
      (select least(at, ${now}::timestamptz) from (select greatest(
        -- A log lasts a day at most, so the one that ends last began at most a day before the last that began.
        (select max(l.end_time) from task_logs as l
          where l.company_id = e.company_id and l.employee_id = e.employee_id and l.start_time >= (
            select max(n.start_time) - interval '24 hours' from task_logs as n
            where n.company_id = e.company_id and n.employee_id = e.employee_id)),
        (select max(c.created_at) from comments as c
          where c.company_id = e.company_id and c.sender_id = e.employee_id and not c.is_deleted),
        (select max(t.completed_at) from tasks as t
          where t.company_id = e.company_id and t.owner_id = e.employee_id)
        -- The offset keeps it from being looked up twice.
      ) as at offset 0) as activity where at is not null) as last_activity_at
    from employees as e
    left join work_totals as w on w.company_id = e.company_id and w.employee_id = e.employee_id
    left join comment_counts as k on k.company_id = e.company_id and k.employee_id = e.employee_id
    left join owned on owned.owner_id = e.employee_id
    left join late on late.owner_id = e.employee_id
    where e.company_id = ${companyId} and e.is_active and not e.is_deleted
      and (${only}::bigint is null or e.employee_id = ${only}::bigint)`.execute(db);
  return rows;
}
