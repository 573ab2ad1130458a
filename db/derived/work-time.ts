import { sql } from 'kysely';
import type { Db } from '../transaction.ts';
import { refuseLockedDays } from './period-locks.ts';
import { onEachRow, onEachStatement, options, whileImporting } from './triggers.ts';

/*
 * Logged time is the sum of task logs. Working time is their union: no minute counts twice. Both are stored for each
 * employee and local day (`work_days`) and as a total of each employee (`work_totals`); logged time also for each day
 * of the company (`company_days` and its shards) and each project (`projects.logged_seconds`). `local_day_start` says where a day
 * begins in the company's time zone. Parts of a log are rounded to the second, counted from its start, so that they add
 * up to its duration.
 */

/** The distinct days of a company's time zone that the periods touch. A day that the calendar skips does not count. */
const touchedDays = `
  create or replace function touched_days(
    of_company bigint, employees bigint[], starts timestamptz[], ends timestamptz[]
  ) returns table (employee_id bigint, day date, day_start timestamptz, day_end timestamptz) rows 10 stable ${options} as $$
  begin return query
    select days.employee_id, days.day, days.day_start, days.day_end
    from (
      select d.employee_id, d.day,
        local_day_start(d.day, c.timezone) as day_start, local_day_start(d.day + 1, c.timezone) as day_end
      from companies as c
      cross join lateral (
        select distinct p.employee_id, local_day(p.period_start, c.timezone) + n as day
        from unnest(employees, starts, ends) as p (employee_id, period_start, period_end)
        cross join lateral generate_series(
          0, local_day(p.period_end - interval '1 microsecond', c.timezone) - local_day(p.period_start, c.timezone)
        ) as n
      ) as d
      where c.company_id = of_company
    ) as days
    where days.day_end > days.day_start;
  end $$`;

const lockKey = (company: string, employee?: string): string =>
  `hashtextextended('days of ' || ${company}::text${employee === undefined ? '' : ` || ' ' || ${employee}::text`}, 0)`;

/** More than the connections of one node, so that few backends share one. */
const shards = 32;

/** Working and logged seconds of the parts of logs (start_time, part_start, part_end, covered_until) on one employee's day. */
const sumOfParts = `
    coalesce(round(extract(epoch from
      sum(part_end - greatest(part_start, least(part_end, coalesce(covered_until, part_start)))))), 0)::integer as working_seconds,
    coalesce(sum(extract(epoch from part_end - start_time)::integer
      - extract(epoch from part_start - start_time)::integer), 0)::bigint as logged_seconds`;

/** Until when the parts before each one last. */
const coveredUntil = (partition: string): string => `
  max(part_end) over (
    ${partition} order by part_start, part_end rows between unbounded preceding and 1 preceding
  ) as covered_until`;

/**
 * Sums the days that the periods touch from their logs, and adds the differences to the totals. The days must be locked by
 * an earlier statement, so that the sum sees what was committed during the wait. Everybody's logs of one day meet in one
 * row of `company_days`: where another transaction has it, the difference goes to a shard of the day.
 *
 * One short statement after another for each day: a single one over all days took nearly twice as long for the insert of one log,
 * much of it to set itself up.
 */
const sumWorkDays = `
  create or replace function sum_work_days(
    of_company bigint, employees bigint[], starts timestamptz[], ends timestamptz[]
  ) returns void ${options} as $$
  declare
    touched record;
    summed record;
    stored record;
    of_day bigint := 0;
  begin
    for touched in
      select *, lead(day) over (order by day, employee_id) is distinct from day as is_last_of_day
      from touched_days(of_company, employees, starts, ends)
      order by day, employee_id
    loop
      select count(*) as logs, ${sumOfParts} into summed
      from (
        select start_time, part_start, part_end, ${coveredUntil('')}
        from (
          select start_time,
            greatest(start_time, touched.day_start) as part_start, least(end_time, touched.day_end) as part_end
          from task_logs
          where company_id = of_company and employee_id = touched.employee_id and start_time < touched.day_end
            and start_time > touched.day_start - interval '24 hours' and end_time > touched.day_start
        ) as parts
      ) as covered;
      select coalesce(max(working_seconds), 0) as working_seconds, coalesce(max(logged_seconds), 0) as logged_seconds into stored
      from work_days where company_id = of_company and employee_id = touched.employee_id and day = touched.day;

      if summed.logs = 0 then
        delete from work_days where company_id = of_company and employee_id = touched.employee_id and day = touched.day;
      else
        insert into work_days (company_id, employee_id, day, working_seconds, logged_seconds)
        values (of_company, touched.employee_id, touched.day, summed.working_seconds, summed.logged_seconds)
        on conflict (company_id, employee_id, day) do update
        set working_seconds = excluded.working_seconds, logged_seconds = excluded.logged_seconds;
      end if;
      insert into work_totals as t (company_id, employee_id, logged_seconds, working_seconds)
      values (
        of_company, touched.employee_id,
        summed.logged_seconds - stored.logged_seconds, summed.working_seconds - stored.working_seconds
      )
      on conflict (company_id, employee_id) do update
      set logged_seconds = t.logged_seconds + excluded.logged_seconds,
        working_seconds = t.working_seconds + excluded.working_seconds;

      of_day := of_day + summed.logged_seconds - stored.logged_seconds;
      if touched.is_last_of_day and of_day <> 0 then
        perform from company_days where company_id = of_company and day = touched.day for no key update skip locked;
        if found then
          update company_days set logged_seconds = logged_seconds + of_day where company_id = of_company and day = touched.day;
        else
          -- Only where there is no row: \`on conflict\` waits for those who update it.
          insert into company_days (company_id, day, logged_seconds)
          select of_company, touched.day, of_day
          where not exists (select from company_days where company_id = of_company and day = touched.day)
          on conflict (company_id, day) do nothing;
          if not found then
            insert into company_day_shards as s (company_id, day, shard, logged_seconds)
            values (of_company, touched.day, pg_backend_pid() % ${shards}, of_day)
            on conflict (company_id, day, shard) do update set logged_seconds = s.logged_seconds + excluded.logged_seconds;
          end if;
        end if;
        of_day := 0;
      end if;
    end loop;
  end $$`;

/** Logs whose time or employee changed, before and after. */
const movedLogs = (changes: string): string => `(
  select company_id, employee_id, start_time, end_time from ${changes} as c
  group by company_id, task_log_id, employee_id, start_time, end_time having sum(sign) <> 0
)`;

/** Logs with any change that people see, before and after. */
const changedLogs = (changes: string): string => `(
  select company_id, employee_id, start_time, end_time from ${changes} as c
  group by company_id, task_log_id, task_id, project_id, employee_id, start_time, end_time, description, manual_add, billable
  having sum(sign) <> 0
)`;

const eachCompany = (logs: string, body: string): string => `
    for change in
      select company_id, array_agg(employee_id) as employees, array_agg(start_time) as starts, array_agg(end_time) as ends
      from ${logs} as c
      group by company_id order by company_id
    loop
      ${body}
    end loop;`;

/** Locks the days of the employees, and raises an error if a period or their age locks them against changes. */
const lockAndCheck = `
      perform pg_advisory_xact_lock_shared(${lockKey('change.company_id')});
      perform pg_advisory_xact_lock(${lockKey('change.company_id', 'e.employee_id')})
      from (select distinct unnest(change.employees) as employee_id order by 1) as e;
      ${refuseLockedDays('change')}`;
const sum = 'perform sum_work_days(change.company_id, change.employees, change.starts, change.ends);';

const checkedAndSummed = (changes: string, event: 'insert' | 'update' | 'delete'): string =>
  event === 'update'
    ? eachCompany(changedLogs(changes), lockAndCheck) + eachCompany(movedLogs(changes), sum)
    : eachCompany(changes, `${lockAndCheck}\n${sum}`);

/**
 * Refuses changes of locked days, and recomputes days whose time changed, and projects whose time changed or that gained
 * or lost a log.
 */
const ofLogs = onEachStatement('task_logs', 'derive_work_time', {
  declare: 'declare change record;',
  body: (changes, event) => `
    if ${whileImporting} then return null; end if;
    ${checkedAndSummed(changes, event)}
    for change in
      select company_id, project_id, sum(sign * duration_seconds) as seconds,
        coalesce(max(updated_at) filter (where sign > 0), statement_timestamp()) as at
      from ${changes} as c
      group by company_id, project_id having sum(sign * duration_seconds) <> 0
      order by company_id, project_id
    loop
      update projects as p
      set logged_seconds = p.logged_seconds + change.seconds, updated_at = greatest(p.updated_at, change.at)
      where p.company_id = change.company_id and p.project_id = change.project_id;
    end loop;`,
});

/**
 * Appends a job of server/features/task-logs/jobs.ts for each crossing of an allocation. The project's row is locked,
 * so of many concurrent logs exactly one crosses it.
 */
const ofProjects = onEachRow('projects', 'project_exceeds_allocation', {
  when: { event: 'update', condition: 'new.is_exceeded and not old.is_exceeded and new.deleted_at is null' },
  declare: 'declare crossing constant text := gen_random_uuid();',
  body: `
    insert into jobs (handler, queue, dedupe_key, payload, due_at, created_at)
    values (
      'project-hours-exceeded', 'database', 'project-hours-exceeded ' || crossing,
      jsonb_build_object(
        'companyId', new.company_id, 'projectId', new.project_id, 'crossing', crossing,
        'allocatedHours', new.allocated_hours, 'loggedHours', round(new.logged_seconds / 3600.0, 2)
      ),
      least(new.updated_at, statement_timestamp()), new.updated_at
    );`,
});

export const workTime = [touchedDays, sumWorkDays, ...ofLogs, ...ofProjects];

/**
 * Locks the days of employees, as each change of their logs does. It must be a statement before the one that reads the
 * logs.
 */
export async function lockDays(db: Db, companyId: number, employeeIds: readonly number[]): Promise<void> {
  await sql`
    select pg_advisory_xact_lock_shared(${sql.raw(lockKey('d.company_id'))})
    from (select ${companyId}::bigint as company_id) as d`.execute(db);
  await sql`
    select pg_advisory_xact_lock(${sql.raw(lockKey('d.company_id', 'd.employee_id'))})
    from (
      select distinct ${companyId}::bigint as company_id, unnest(${employeeIds}::bigint[]) as employee_id order by 2
    ) as d`.execute(db);
}

/**
 * Creates and locks the days of the company that periods touch, in the order of single logs. Several statements of logs in one
 * transaction need it before the first of them locks a project. Lock the days of the employees first.
 */
export async function lockCompanyDays(
  db: Db,
  companyId: number,
  { employeeIds, starts, ends }: { employeeIds: readonly number[]; starts: readonly Date[]; ends: readonly Date[] },
): Promise<void> {
  await sql`
    insert into company_days (company_id, day, logged_seconds)
    select distinct ${companyId}::bigint, t.day, 0
    from touched_days(${companyId}, ${employeeIds}::bigint[], ${starts}::timestamptz[], ${ends}::timestamptz[]) as t
    order by t.day
    -- Locks those that are there: a shard instead may be held by somebody who waits for a project.
    on conflict (company_id, day) do update set logged_seconds = company_days.logged_seconds`.execute(db);
}

/** Locks the days of all employees of the company. Lock the company's row first. */
export async function lockDaysOfAll(db: Db, companyId: number): Promise<void> {
  await sql`select pg_advisory_xact_lock(${sql.raw(lockKey(String(companyId)))})`.execute(db);
}

/** Small enough to keep every statement far below its time limit. */
const logsPerStatementMax = 200_000;

/** What is logged on the days of a company: (day, logged_seconds), several rows a day. */
export const companyDays = (companyId: number) => sql`(
  select day, logged_seconds from company_days where company_id = ${companyId}
  union all
  select day, logged_seconds from company_day_shards where company_id = ${companyId}
)`;

/**
 * Recomputes all days of the company in the time zone of its row. Writers of time logs wait until this transaction
 * ends. Lock the company's row first.
 */
export async function recomputeWorkDays(db: Db, companyId: number): Promise<void> {
  await lockDaysOfAll(db, companyId);
  // The shards go with their days.
  for (const table of ['work_days', 'work_totals', 'company_days'] as const)
    await db.deleteFrom(table).where('company_id', '=', companyId).execute();
  for (const employeeIds of await partitionEmployees(db, companyId))
    await sql`
      with ${recomputedDays(companyId, employeeIds)}
      insert into work_days (company_id, employee_id, day, working_seconds, logged_seconds)
      select ${companyId}::bigint, employee_id, day, working_seconds, logged_seconds from summed`.execute(db);
  await sql`
    insert into work_totals (company_id, employee_id, logged_seconds, working_seconds)
    select company_id, employee_id, sum(logged_seconds), sum(working_seconds)
    from work_days where company_id = ${companyId} group by company_id, employee_id`.execute(db);
  await sql`
    insert into company_days (company_id, day, logged_seconds)
    select company_id, day, sum(logged_seconds)
    from work_days where company_id = ${companyId} group by company_id, day`.execute(db);
}

/** Recomputes the logged time of all projects of the company. */
export async function recomputeProjectTime(db: Db, companyId: number): Promise<void> {
  await sql`
    update projects as p set logged_seconds = l.seconds
    from (
      select project_id, sum(duration_seconds) as seconds from task_logs where company_id = ${companyId} group by project_id
    ) as l
    where p.company_id = ${companyId} and p.project_id = l.project_id`.execute(db);
}

/** All employees of the company, in groups that one statement can sum. */
export async function partitionEmployees(db: Db, companyId: number): Promise<number[][]> {
  const { rows } = await sql<{ employee_id: number; logs: number }>`
    select e.employee_id, coalesce(l.logs, 0) as logs
    from employees as e
    left join (
      select employee_id, count(*) as logs from task_logs where company_id = ${companyId} group by employee_id
    ) as l on l.employee_id = e.employee_id
    where e.company_id = ${companyId}
    order by e.employee_id`.execute(db);
  const parts: number[][] = [];
  let room = -1;
  for (const { employee_id: employeeId, logs } of rows) {
    if (logs > room) {
      parts.push([]);
      room = logsPerStatementMax;
    }
    parts.at(-1)!.push(employeeId);
    room -= logs;
  }
  return parts;
}

/**
 * The subquery `summed` (employee_id, day, working_seconds, logged_seconds) of the given employees, from all their
 * logs.
 */
export function recomputedDays(companyId: number, employeeIds: readonly number[]) {
  return sql`
    shown as materialized (
      select l.employee_id, l.start_time, l.end_time, c.timezone,
        (l.start_time at time zone c.timezone)::date as start_day, (l.end_time at time zone c.timezone)::date as end_day
      from task_logs as l join companies as c on c.company_id = l.company_id
      where l.company_id = ${companyId} and l.employee_id = any(${employeeIds}::bigint[])
    ), days as materialized (
      select day, local_day_start(day, timezone) as day_start, local_day_start(day + 1, timezone) as day_end
      from (
        select distinct start_day + n as day, timezone from shown cross join generate_series(0, end_day - start_day + 1) as n
      ) as shown_days
    ), parts as (
      select s.employee_id, d.day, s.start_time,
        greatest(s.start_time, d.day_start) as part_start, least(s.end_time, d.day_end) as part_end
      from shown as s
      -- A day may begin before the clocks show it, hence one day more.
      cross join lateral generate_series(0, s.end_day - s.start_day + 1) as n
      join days as d on d.day = s.start_day + n
      where s.start_time < d.day_end and s.end_time > d.day_start and d.day_end > d.day_start
    ), summed as (
      select employee_id, day, ${sql.raw(sumOfParts)}
      from (
        select employee_id, day, start_time, part_start, part_end, ${sql.raw(coveredUntil('partition by employee_id, day'))}
        from parts
      ) as covered
      group by employee_id, day
    )`;
}
