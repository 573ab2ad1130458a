/*
 * The service's own SQL of time logs, with all that it keeps of them; see statements.ts. Lists are out of the planner's
 * sight, as the service has them: otherwise each run would be planned anew.
 */

const list = (parameter: string, type: string): string => `(select ${parameter}::${type}[])::${type}[]`;

/** $1 company, $2 tasks. */
export const lockTasks = `
  with t as materialized (
    select task_id, project_id from tasks
    where company_id = $1 and task_id = any(${list('$2', 'bigint')}) and deleted_at is null order by task_id for share
  )
  select t.task_id, t.project_id from t join projects as p on p.company_id = $1 and p.project_id = t.project_id
  where p.deleted_at is null`;

/** $1 company, $2 task. */
export const lockTask = `
  with t as (
    select task_id, project_id from tasks
    where company_id = $1 and task_id = $2 and deleted_at is null for share
  )
  select t.task_id, t.project_id from t join projects as p on p.company_id = $1 and p.project_id = t.project_id
  where p.deleted_at is null`;

const answered = `
  returning task_log_id, task_id, employee_id, project_id, start_time, end_time, duration_seconds, description,
    manual_add, created_at, updated_at`;

/** $1 company, then a value for each column. A duplicate is an error, and the end of the transaction. */
export const insertLog = `
  insert into task_logs (
    company_id, task_id, employee_id, project_id, start_time, end_time, description, manual_add, created_at, updated_at
  )
  values ($1, $2, $3, $4, $5, $6, $7, true, now(), now())
  ${answered}`;

/** $1 company, then a list for each column. */
export const insertLogs = `
  insert into task_logs (
    company_id, task_id, employee_id, project_id, start_time, end_time, description, manual_add, created_at, updated_at
  )
  select $1::bigint, l.task_id, l.employee_id, l.project_id, l.start_time, l.end_time, l.description, true, now(), now()
  from unnest(
    ${list('$2', 'bigint')}, ${list('$3', 'bigint')}, ${list('$4', 'bigint')},
    ${list('$5', 'timestamptz')}, ${list('$6', 'timestamptz')}, ${list('$7', 'text')}
  ) as l (task_id, employee_id, project_id, start_time, end_time, description)
  order by l.task_id, l.employee_id, l.start_time
  on conflict on constraint task_logs_duplicate do nothing
  ${answered}`;

/** $1 company, $2 employee. */
export const lockDays = `
  select pg_advisory_xact_lock(hashtextextended('days of ' || $1::text || ' ' || $2::text, 0))
  from (
    select pg_advisory_xact_lock_shared(hashtextextended('days of ' || $1::text, 0)) offset 0
  ) as company`;

/** $1 company, $2 employees, $3 starts, $4 ends. */
const touchedDays = `
  select employee_id, day, day_start, day_end
  from (
    select d.employee_id, d.day,
      local_day_start(d.day, c.timezone) as day_start, local_day_start(d.day + 1, c.timezone) as day_end
    from companies as c
    cross join lateral (
      select distinct p.employee_id, local_day(p.period_start, c.timezone) + n as day
      from unnest(
        ${list('$2', 'bigint')}, ${list('$3', 'timestamptz')}, ${list('$4', 'timestamptz')}
      ) as p (employee_id, period_start, period_end)
      cross join lateral generate_series(
        0, local_day(p.period_end - interval '1 microsecond', c.timezone) - local_day(p.period_start, c.timezone)
      ) as n
    ) as d
    where c.company_id = $1::bigint
  ) as days
  where day_end > day_start`;

export const keepDays = `
  with touched as materialized (${touchedDays}), parts as (
    select t.employee_id, t.day, l.start_time,
      greatest(l.start_time, t.day_start) as part_start, least(l.end_time, t.day_end) as part_end
    from touched as t
    cross join lateral (
      select start_time, end_time from task_logs
      where company_id = $1 and employee_id = t.employee_id and start_time < t.day_end
        and start_time > t.day_start - interval '24 hours' and end_time > t.day_start
      offset 0
    ) as l
  ), counted as materialized (
    select employee_id, day,
      round(extract(epoch from
        sum(part_end - greatest(part_start, least(part_end, coalesce(covered_until, part_start))))))::integer as working_seconds,
      sum(extract(epoch from part_end - start_time)::integer
        - extract(epoch from part_start - start_time)::integer)::bigint as logged_seconds
    from (
      select employee_id, day, start_time, part_start, part_end,
        max(part_end) over (
          partition by employee_id, day order by part_start, part_end rows between unbounded preceding and 1 preceding
        ) as covered_until
      from parts
    ) as covered
    group by employee_id, day
  ), stored as materialized (
    select w.employee_id, w.day, w.working_seconds, w.logged_seconds
    from touched as t
    cross join lateral (
      select employee_id, day, working_seconds, logged_seconds from work_days
      where company_id = $1 and employee_id = t.employee_id and day = t.day
      offset 0
    ) as w
  ), kept as (
    insert into work_days as w (company_id, employee_id, day, working_seconds, logged_seconds)
    select $1, employee_id, day, working_seconds, logged_seconds from counted
    on conflict (company_id, employee_id, day) do update
    set working_seconds = excluded.working_seconds, logged_seconds = excluded.logged_seconds
  ), changes as (
    select employee_id, day,
      coalesce(c.working_seconds, 0) - coalesce(s.working_seconds, 0) as working_seconds,
      coalesce(c.logged_seconds, 0) - coalesce(s.logged_seconds, 0) as logged_seconds
    from counted as c full join stored as s using (employee_id, day)
  ), summed as (
    insert into work_totals as t (company_id, employee_id, logged_seconds, working_seconds)
    select $1, employee_id, sum(logged_seconds), sum(working_seconds) from changes group by employee_id
    on conflict (company_id, employee_id) do update
    set logged_seconds = t.logged_seconds + excluded.logged_seconds,
      working_seconds = t.working_seconds + excluded.working_seconds
  )
  insert into company_days as d (company_id, day, logged_seconds)
  select $1, day, sum(logged_seconds) from changes group by day having sum(logged_seconds) <> 0 order by day
  on conflict (company_id, day) do update set logged_seconds = d.logged_seconds + excluded.logged_seconds`;

export const listDays = `
  with touched as materialized (${touchedDays})
  select t.day, coalesce(w.working_seconds, 0) as working_seconds
  from touched as t
  left join work_days as w on w.company_id = $1 and w.employee_id = t.employee_id and w.day = t.day
  order by t.day`;

const whetherExceeded = `
  returning p.project_id, p.allocated_hours, p.logged_seconds, p.is_exceeded,
    case when p.deleted_at is null then coalesce(logged_seconds > allocated_hours * 3600, false) else p.is_exceeded end
      as exceeds`;

/** $1 company, $2 project, $3 seconds. Answers what tells whether an allocation is crossed. */
export const addTime = `
  update projects as p
  set logged_seconds = p.logged_seconds + $3::bigint, updated_at = greatest(p.updated_at, now())
  where p.company_id = $1 and p.project_id = $2
  ${whetherExceeded}`;

/** The same, $2 projects, $3 seconds: whoever waits for each answer changes them together. */
export const addTimes = `
  update projects as p set logged_seconds = p.logged_seconds + c.seconds, updated_at = greatest(p.updated_at, now())
  from unnest(${list('$2', 'bigint')}, ${list('$3', 'bigint')}) as c (project_id, seconds)
  where p.company_id = $1 and p.project_id = c.project_id
  ${whetherExceeded}`;

/** $1 company, $2 projects. */
export const allocations = `
  select project_id, allocated_hours, logged_seconds, is_exceeded,
    coalesce(logged_seconds > allocated_hours * 3600, false) as exceeds
  from projects where company_id = $1 and project_id = any(${list('$2', 'bigint')}) and deleted_at is null
  order by project_id`;
export const lockAllocations = `${allocations} for no key update`;
