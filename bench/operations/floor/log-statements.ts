/*
 * The service's own SQL of time logs; see statements.ts. Lists are out of the planner's
 * sight, as the service has them: otherwise each run would be planned again.
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

/** $1 company, $2 employees, $3 starts, $4 ends. */
export const listDays = `
  with touched as materialized (
    select employee_id, day from touched_days(
      $1, ${list('$2', 'bigint')}, ${list('$3', 'timestamptz')}, ${list('$4', 'timestamptz')}
    )
  )
  select t.day, coalesce(w.working_seconds, 0) as working_seconds
  from touched as t
  left join work_days as w on w.company_id = $1 and w.employee_id = t.employee_id and w.day = t.day
  order by t.day`;

/** $1 company, $2 projects. */
export const listExceeded = `
  select project_id, allocated_hours, logged_seconds from projects
  where company_id = $1 and project_id = any(${list('$2', 'bigint')}) and deleted_at is null and is_exceeded
  order by project_id`;
