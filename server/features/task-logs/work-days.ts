import { sql } from 'kysely';
import { compiled, compiledFor, type Blanks, type Given } from '../../../db/compiled.ts';
import { list } from '../../../db/list.ts';
import type { Db } from '../../../db/open.ts';

/*
 * Vocabulary. Logged time is the sum of logs; working time is their union: no minute counts twice. Both are kept for
 * each person and local day (`work_days`), in sum for each person (`work_totals`) and, logged time only, in sum for each
 * day of the company (`company_days`). Where a day begins, the database's `local_day_start` says, in the time zone that
 * the company has. Parts of a log are rounded to the second from its start on, so that they add up to its duration.
 *
 * Locks are taken in this order: tasks, logs, the company's days, the days of its people by identifier, the rows of
 * `company_days` by day, projects by identifier.
 */

/** Somebody's time from one moment to another. */
export type Period = { employeeId: number; start: Date; end: Date };

/** Counts every person's days from `parts` (employee_id, day, start_time, part_start, part_end). */
export const countedDays = sql`
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
  group by employee_id, day`;

/**
 * Counts the days that the given periods touch anew from the logs, and takes the differences over into the sums.
 * Logs that were there before a change and those that are there after it both name their periods; where there were none
 * before, no day loses its last log.
 */
export async function keepWorkDays(
  db: Db,
  companyId: number,
  { periods, hadLogs }: { periods: readonly Period[]; hadLogs: boolean },
): Promise<void> {
  const touched = columnsOf(companyId, periods);
  // In a statement after that lock, for what was committed before it must be seen: logs, and the time zone.
  await Promise.all([lockWorkDays(db, companyId, touched.employeeIds), countTouchedDays(db, hadLogs, touched)]);
}

/** Periods as a statement takes them. */
type Periods = { companyId: number; employeeIds: number[]; starts: Date[]; ends: Date[] };

const columnsOf = (companyId: number, periods: readonly Period[]): Periods => ({
  companyId,
  employeeIds: periods.map(({ employeeId }) => employeeId),
  starts: periods.map(({ start }) => start),
  ends: periods.map(({ end }) => end),
});

const countTouchedDays = compiledFor<boolean, Periods, object>((db, blank, hadLogs) => {
  const companyId = blank('companyId');
  const removed = sql`removed as (
      delete from work_days as w using stored as s
      where w.company_id = ${companyId} and w.employee_id = s.employee_id and w.day = s.day
        and not exists (select from counted as c where c.employee_id = s.employee_id and c.day = s.day)
    ), `;
  return sql<object>`
    with touched as materialized (${touchedDays(blankPeriods(blank))}), parts as (
      select t.employee_id, t.day, l.start_time,
        greatest(l.start_time, t.day_start) as part_start, least(l.end_time, t.day_end) as part_end
      from touched as t
      -- The offset keeps this, and what is stored below, a look into the index for each day, whatever the planner thinks.
      cross join lateral (
        select start_time, end_time from task_logs
        where company_id = ${companyId} and employee_id = t.employee_id and start_time < t.day_end
          and start_time > t.day_start - interval '24 hours' and end_time > t.day_start
        offset 0
      ) as l
    ), counted as materialized (${countedDays}), stored as materialized (
      select w.employee_id, w.day, w.working_seconds, w.logged_seconds
      from touched as t
      cross join lateral (
        select employee_id, day, working_seconds, logged_seconds from work_days
        where company_id = ${companyId} and employee_id = t.employee_id and day = t.day
        offset 0
      ) as w
    ), ${hadLogs ? removed : sql``} kept as (
      insert into work_days as w (company_id, employee_id, day, working_seconds, logged_seconds)
      select ${companyId}::bigint, employee_id, day, working_seconds, logged_seconds from counted
      on conflict (company_id, employee_id, day) do update
      set working_seconds = excluded.working_seconds, logged_seconds = excluded.logged_seconds
    ), changes as (
      select employee_id, day,
        coalesce(c.working_seconds, 0) - coalesce(s.working_seconds, 0) as working_seconds,
        coalesce(c.logged_seconds, 0) - coalesce(s.logged_seconds, 0) as logged_seconds
      from counted as c full join stored as s using (employee_id, day)
    ), summed as (
      insert into work_totals as t (company_id, employee_id, logged_seconds, working_seconds)
      select ${companyId}::bigint, employee_id, sum(logged_seconds), sum(working_seconds)
      from changes group by employee_id
      on conflict (company_id, employee_id) do update
      set logged_seconds = t.logged_seconds + excluded.logged_seconds,
        working_seconds = t.working_seconds + excluded.working_seconds
    )
    insert into company_days as d (company_id, day, logged_seconds)
    select ${companyId}::bigint, day, sum(logged_seconds) from changes
    group by day having sum(logged_seconds) <> 0 order by day
    on conflict (company_id, day) do update set logged_seconds = d.logged_seconds + excluded.logged_seconds`.compile(
    db,
  );
});

export type WorkDay = { day: string; working_seconds: number };

/** The days that the given periods of one person touch, each with that person's working time of the whole day. */
export async function listWorkDays(db: Db, companyId: number, periods: readonly Period[]): Promise<WorkDay[]> {
  return readWorkDays(db, columnsOf(companyId, periods));
}

const readWorkDays = compiled<Periods, WorkDay>((db, blank) =>
  sql<WorkDay>`
    with touched as materialized (${touchedDays(blankPeriods(blank))})
    select t.day, coalesce(w.working_seconds, 0) as working_seconds
    from touched as t
    left join work_days as w
      on w.company_id = ${blank('companyId')} and w.employee_id = t.employee_id and w.day = t.day
    order by t.day`.compile(db),
);

const blankPeriods = (blank: Blanks<Periods>) => ({
  companyId: blank('companyId'),
  employeeIds: blank('employeeIds'),
  starts: blank('starts'),
  ends: blank('ends'),
});

/** Who and when, once each: (employee_id, day, day_start, day_end). A day that the calendar leaves out is none. */
function touchedDays({ companyId, employeeIds, starts, ends }: { [Key in keyof Periods]: Given<Periods[Key]> }) {
  return sql`
    select employee_id, day, day_start, day_end
    from (
      select d.employee_id, d.day,
        local_day_start(d.day, c.timezone) as day_start, local_day_start(d.day + 1, c.timezone) as day_end
      from companies as c
      cross join lateral (
        select distinct p.employee_id, local_day(p.period_start, c.timezone) + n as day
        from unnest(
          ${list(employeeIds, 'bigint')}, ${list(starts, 'timestamptz')}, ${list(ends, 'timestamptz')}
        ) as p (employee_id, period_start, period_end)
        cross join lateral generate_series(
          0, local_day(p.period_end - interval '1 microsecond', c.timezone) - local_day(p.period_start, c.timezone)
        ) as n
      ) as d
      where c.company_id = ${companyId}
    ) as days
    where day_end > day_start`;
}

/** One after the other whoever counts days of the same person; all of them before or after a change of the time zone. */
async function lockWorkDays(db: Db, companyId: number, employeeIds: readonly number[]): Promise<void> {
  const ids = [...new Set(employeeIds)].toSorted((a, b) => a - b);
  await Promise.all(ids.map((employeeId) => lockDays(db, { companyId, employeeId })));
}

// The company's first: PostgreSQL keeps a subquery that locks, though nothing of it is asked for.
const lockDays = compiled<{ companyId: number; employeeId: number }, object>((db, blank) =>
  sql<object>`
    select pg_advisory_xact_lock(
      hashtextextended('days of ' || ${blank('companyId')}::text || ' ' || ${blank('employeeId')}::text, 0)
    )
    from (select pg_advisory_xact_lock_shared(${companyKey(blank('companyId'))}) offset 0) as company`.compile(db),
);

/** Nobody counts days of the company until the transaction ends. Take the company's row before. */
export async function lockAllWorkDays(db: Db, companyId: number): Promise<void> {
  await sql`select pg_advisory_xact_lock(${companyKey(companyId)})`.execute(db);
}

const companyKey = (companyId: Given<number>) => sql`hashtextextended('days of ' || ${companyId}::text, 0)`;
