import { sql } from 'kysely';
import type { Db } from '../../../db/open.ts';
import { countedDays, lockAllWorkDays } from './work-days.ts';

/** Kept small, so that no statement comes near its time limit. */
const logsPerStatementMax = 200_000;

/**
 * Counts all days of the company anew, in the time zone that its row has now. Nobody else counts days meanwhile: whoever
 * logs time waits until this transaction ends. Take the company's row before.
 */
export async function recountDays(db: Db, companyId: number): Promise<void> {
  await lockAllWorkDays(db, companyId);
  for (const table of ['work_days', 'work_totals', 'company_days'] as const)
    await db.deleteFrom(table).where('company_id', '=', companyId).execute();
  for (const employeeIds of await listShares(db, companyId))
    await sql`
      with ${recounted(companyId, employeeIds)}
      insert into work_days (company_id, employee_id, day, working_seconds, logged_seconds)
      select ${companyId}::bigint, employee_id, day, working_seconds, logged_seconds from counted`.execute(db);
  await sql`
    insert into work_totals (company_id, employee_id, logged_seconds, working_seconds)
    select company_id, employee_id, sum(logged_seconds), sum(working_seconds)
    from work_days where company_id = ${companyId} group by company_id, employee_id`.execute(db);
  await sql`
    insert into company_days (company_id, day, logged_seconds)
    select company_id, day, sum(logged_seconds)
    from work_days where company_id = ${companyId} group by company_id, day`.execute(db);
}

/** Everybody in the company, in shares that one statement each can count. */
export async function listShares(db: Db, companyId: number): Promise<number[][]> {
  const { rows } = await sql<{ employee_id: number; logs: number }>`
    select e.employee_id, coalesce(l.logs, 0) as logs
    from employees as e
    left join (
      select employee_id, count(*) as logs from task_logs where company_id = ${companyId} group by employee_id
    ) as l on l.employee_id = e.employee_id
    where e.company_id = ${companyId}
    order by e.employee_id`.execute(db);
  const shares: number[][] = [];
  let room = -1;
  for (const { employee_id: employeeId, logs } of rows) {
    if (logs > room) {
      shares.push([]);
      room = logsPerStatementMax;
    }
    shares.at(-1)!.push(employeeId);
    room -= logs;
  }
  return shares;
}

/** `counted` (employee_id, day, working_seconds, logged_seconds) of the given people, from all their logs. */
export function recounted(companyId: number, employeeIds: readonly number[]) {
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
    ), counted as (${countedDays})`;
}
