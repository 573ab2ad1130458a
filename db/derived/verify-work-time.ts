import { sql, type RawBuilder } from 'kysely';
import type { Db } from '../transaction.ts';
import { countedAmounts } from './amounts.ts';
import { companyDays, partitionEmployees, recomputedDays } from './work-time.ts';

/** A stored value that differs from the value computed from its rows. */
export type Difference = { total: string; kept: number; counted: number };

export type Verification = {
  /** How many rows were compared. */
  checked: { logs: number; days: number; people: number; projects: number };
  differences: Difference[];
};

/**
 * Recomputes every total of the company's time from its logs and returns the stored ones that differ. Each comparison
 * is one statement, so logs may change at the same time.
 */
export async function verifyTotals(db: Db, companyId: number): Promise<Verification> {
  const differences: Difference[] = [];
  const compare = async (query: RawBuilder<Difference>) => differences.push(...(await query.execute(db)).rows);
  for (const employeeIds of await partitionEmployees(db, companyId)) await compare(personsDays(companyId, employeeIds));
  await compare(companysDays(companyId));
  await compare(persons(companyId));
  await compare(projects(companyId));
  await compare(amounts(companyId));
  const { rows } = await sql<Verification['checked']>`
    select
      (select count(*) from task_logs where company_id = ${companyId}) as logs,
      (select count(*) from work_days where company_id = ${companyId}) as days,
      (select count(*) from work_totals where company_id = ${companyId}) as people,
      (select count(*) from projects where company_id = ${companyId}) as projects`.execute(db);
  return { checked: rows[0]!, differences };
}

/**
 * Compares days of employees with their logs. A stored day without a log, or a log without a stored day, always
 * differs: the missing value counts as -1.
 */
function personsDays(companyId: number, employeeIds: readonly number[]) {
  return sql<Difference>`
    with ${recomputedDays(companyId, employeeIds)}, kept as (
      select employee_id, day, working_seconds, logged_seconds from work_days
      where company_id = ${companyId} and employee_id = any(${employeeIds}::bigint[])
    )
    select x.name || ' seconds of employee ' || employee_id || ' on ' || day as total, x.kept, x.counted
    from kept as k full join summed as c using (employee_id, day)
    cross join lateral (values
      ('working', coalesce(k.working_seconds, -1), coalesce(c.working_seconds, -1)),
      ('logged', coalesce(k.logged_seconds, -1), coalesce(c.logged_seconds, -1))
    ) as x (name, kept, counted)
    where x.kept <> x.counted
    order by employee_id, day`;
}

/** Compares days of the company with those of its employees. */
function companysDays(companyId: number) {
  return sql<Difference>`
    select 'logged seconds on ' || day as total,
      coalesce(k.logged_seconds, 0) as kept, coalesce(c.logged_seconds, 0) as counted
    from (select day, sum(logged_seconds)::bigint as logged_seconds from ${companyDays(companyId)} as d group by day) as k
    full join (
      select day, sum(logged_seconds)::bigint as logged_seconds from work_days
      where company_id = ${companyId} group by day
    ) as c using (day)
    where coalesce(k.logged_seconds, 0) <> coalesce(c.logged_seconds, 0)
    order by day`;
}

/** Compares totals of employees: logged time with the durations of their logs, working time with their days. */
function persons(companyId: number) {
  return sql<Difference>`
    select x.name || ' seconds of employee ' || e.employee_id as total, x.kept, x.counted
    from employees as e
    left join work_totals as t on t.company_id = e.company_id and t.employee_id = e.employee_id
    left join (
      select employee_id, sum(duration_seconds)::bigint as seconds from task_logs
      where company_id = ${companyId} group by employee_id
    ) as l on l.employee_id = e.employee_id
    left join (
      select employee_id, sum(working_seconds)::bigint as seconds from work_days
      where company_id = ${companyId} group by employee_id
    ) as w on w.employee_id = e.employee_id
    cross join lateral (values
      ('logged', coalesce(t.logged_seconds, 0), coalesce(l.seconds, 0)),
      ('working', coalesce(t.working_seconds, 0), coalesce(w.seconds, 0))
    ) as x (name, kept, counted)
    where e.company_id = ${companyId} and x.kept <> x.counted
    order by e.employee_id`;
}

/** Compares projects with the durations of their logs. */
function projects(companyId: number) {
  return sql<Difference>`
    select x.name || ' of project ' || p.project_id as total, x.kept, x.counted
    from projects as p
    left join (
      select project_id, sum(duration_seconds)::bigint as seconds from task_logs
      where company_id = ${companyId} group by project_id
    ) as l on l.project_id = p.project_id
    cross join lateral (values
      ('logged seconds', p.logged_seconds, coalesce(l.seconds, 0))
    ) as x (name, kept, counted)
    where p.company_id = ${companyId} and x.kept <> x.counted
    order by p.project_id`;
}

/** Compares what projects amount to with their logs. */
function amounts(companyId: number) {
  return sql<Difference>`
    select currency || ' of project ' || project_id as total,
      coalesce(k.minor_units, 0) as kept, coalesce(c.minor_units, 0) as counted
    from (select project_id, currency, minor_units from project_amounts where company_id = ${companyId}) as k
    full join (${countedAmounts(companyId)}) as c using (project_id, currency)
    where coalesce(k.minor_units, 0) <> coalesce(c.minor_units, 0)
    order by project_id, currency`;
}
