import { sql } from 'kysely';
import type { Db } from '../transaction.ts';
import { options } from './triggers.ts';

/*
 * A day is locked if it is in a period that was submitted or approved, or if the policy of the company locks it by its age.
 * The triggers of `work-time.ts` call this for the days of each changed log, before and after the change, so no writer gets
 * around it. Invariants:
 *
 * - Days are checked under the advisory lock on the days of their employee. Who submits a period holds that lock too, so no
 *   log is written between the snapshot of a period and its lock.
 * - A company without a row in `time_policies` has no locks. The first submission adds the row.
 * - The periods of an employee do not overlap.
 * - Days are those of the company's time zone, and their age is that of the clock of the database.
 */

/** The SQLSTATE of a change that a lock refuses; server/errors/errors.ts reads it. Its detail lists the locked days as JSON. */
const lockedDaysState = 'WM001';

/** The setting of a transaction in which an admin overrides the locks. */
const overrideSetting = 'app.override_period_locks';

export const periodLocks = [
  `create or replace function period_start(day date, period text, week_start integer) returns date
  language sql immutable parallel safe as $$
    select case period when 'month' then date_trunc('month', day::timestamp)::date
      else day - (extract(isodow from day)::integer - week_start + 7) % 7 end
  $$`,
  `create or replace function period_end(day date, period text, week_start integer) returns date
  language sql immutable parallel safe as $$
    select case period when 'month' then (date_trunc('month', day::timestamp) + interval '1 month')::date - 1
      else period_start(day, period, week_start) + 6 end
  $$`,

  // The day before which all days are locked by their age; null without such locks. A period is locked when more days have
  // passed since its last one than the policy allows, so the first open period is the one that contained the day so long ago.
  `create or replace function locked_before(of_company bigint) returns date stable ${options} as $$
  begin
    return (
      select period_start(
        local_day(statement_timestamp(), c.timezone) - p.lock_after_days - p.grace_days, p.period, p.week_start
      )
      from time_policies as p join companies as c using (company_id)
      where p.company_id = of_company and p.lock_after_days is not null
    );
  end $$`,

  `create or replace function locked_days(
    of_company bigint, employees bigint[], starts timestamptz[], ends timestamptz[]
  ) returns table (employee_id bigint, day date, day_start timestamptz, day_end timestamptz) rows 1 stable ${options} as $$
  declare
    oldest_open constant date := locked_before(of_company);
  begin return query
    select t.employee_id, t.day, t.day_start, t.day_end
    from touched_days(of_company, employees, starts, ends) as t
    where t.day < oldest_open or exists (
      select from timesheet_periods as p
      -- A period has at most 31 days.
      where p.company_id = of_company and p.employee_id = t.employee_id and p.first_day between t.day - 30 and t.day
        and p.last_day >= t.day and p.state in ('submitted', 'approved')
    );
  end $$`,

  `create or replace function refuse_locked_days(
    of_company bigint, employees bigint[], starts timestamptz[], ends timestamptz[]
  ) returns void ${options} as $$
  declare
    locked constant jsonb := (
      select jsonb_agg(to_jsonb(d) order by d.employee_id, d.day) from locked_days(of_company, employees, starts, ends) as d
    );
  begin
    if locked is not null and current_setting('${overrideSetting}', true) is distinct from 'on' then
      raise exception 'the time of locked days would change' using errcode = '${lockedDaysState}', detail = locked::text;
    end if;
  end $$`,

  // What is logged in a period, as [{date, projectId, seconds}]. Parts of logs are rounded as in work_days.
  `create or replace function period_snapshot(of_company bigint, of_employee bigint, first_day date, last_day date)
  returns jsonb stable ${options} as $$
  begin
    return (
      select coalesce(
        jsonb_agg(jsonb_build_object('date', s.day, 'projectId', s.project_id, 'seconds', s.seconds) order by s.day, s.project_id),
        '[]'
      )
      from (
        select d.day, l.project_id,
          sum(extract(epoch from least(l.end_time, d.day_end) - l.start_time)::integer
            - extract(epoch from greatest(l.start_time, d.day_start) - l.start_time)::integer) as seconds
        from (
          select first_day + n as day,
            local_day_start(first_day + n, c.timezone) as day_start, local_day_start(first_day + n + 1, c.timezone) as day_end
          from companies as c cross join generate_series(0, last_day - first_day) as n
          where c.company_id = of_company
        ) as d
        cross join lateral (
          select t.project_id, t.start_time, t.end_time from task_logs as t
          where t.company_id = of_company and t.employee_id = of_employee and t.start_time < d.day_end
            and t.start_time > d.day_start - interval '24 hours' and t.end_time > d.day_start
          offset 0
        ) as l
        where d.day_end > d.day_start
        group by d.day, l.project_id
      ) as s
      where s.seconds > 0
    );
  end $$`,
];

/** A statement of a trigger that refuses the logs of a record (company_id, employees, starts, ends). */
export const refuseLockedDays = (logs: string): string => `
      perform refuse_locked_days(${logs}.company_id, ${logs}.employees, ${logs}.starts, ${logs}.ends)
      from time_policies where company_id = ${logs}.company_id;`;

/** From here on, changes in the transaction are not refused for locks of days. */
export async function overrideLocks(db: Db): Promise<void> {
  await sql`select set_config(${overrideSetting}, 'on', true)`.execute(db);
}

/** The locked days that a person's time touches. Lock the days first. */
export async function listLockedDays(
  db: Db,
  { companyId, employeeId, start, end }: { companyId: number; employeeId: number; start: Date; end: Date },
): Promise<string[]> {
  const { rows } = await sql<{ day: string }>`
    select day from locked_days(${companyId}, array[${employeeId}::bigint], array[${start}::timestamptz], array[${end}::timestamptz])
    order by day`.execute(db);
  return rows.map(({ day }) => day);
}
