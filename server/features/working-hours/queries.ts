import { sql, type RawBuilder } from 'kysely';
import type { z } from 'zod';
import type { Db } from '../../../db/open.ts';
import { FORBIDDEN } from '../../errors/errors.ts';
import type { Member } from '../../kernel/context.ts';
import { getEmployee } from '../employees/queries.ts';
import { defaultPolicy } from '../time-policies/queries.ts';
import type { WorkingHours } from './schemas.ts';

export type Entries = z.input<typeof WorkingHours>['entries'];

/** What is expected of an employee is for them, team leaders and admins, as their timesheet is. */
export async function checkMayRead(db: Db, caller: Member, employeeId: number): Promise<void> {
  await getEmployee(db, caller.companyId, employeeId);
  if (caller.employeeId === employeeId || caller.isTeamLeader || caller.isAdmin) return;
  throw FORBIDDEN({ detail: 'Only a team leader or an admin sees the working hours of somebody else.' });
}

export async function listEntries(db: Db, companyId: number, employeeId: number): Promise<Entries> {
  const rows = await db
    .selectFrom('working_hours')
    .where('company_id', '=', companyId)
    .where('employee_id', '=', employeeId)
    .select(['valid_from', 'minutes'])
    .orderBy('valid_from')
    .execute();
  return rows.map((row) => ({ validFrom: row.valid_from, minutes: row.minutes }));
}

/** Expressions of SQL: an employee, and the first and last day of a range. They may name columns around the subquery. */
type Asked = Record<'company' | 'employee' | 'from' | 'to', RawBuilder<unknown>>;

/**
 * The days of a range (day, minutes, holiday) with what is expected of the employee on each, as a subquery. Nothing is expected on
 * holidays and before the employee joined; otherwise the latest entry of the working hours holds, or without one the policy.
 */
export const expectedDays = ({ company, employee, from, to }: Asked) => sql`(
  select asked.day, holiday.name as holiday,
    case when holiday.day is not null or asked.day < person.date_of_joining then 0
      else (coalesce(entry.minutes, policy.expected_minutes, ${defaultPolicy.expected_minutes}::integer[]))[
        extract(isodow from asked.day)::integer
      ]
    end as minutes
  from (
    select ${company} as company_id, ${employee} as employee_id, ${from} + n as day
    from generate_series(0, ${to} - ${from}) as n
  ) as asked
  join employees as person using (company_id, employee_id)
  left join time_policies as policy using (company_id)
  left join holidays as holiday using (company_id, day)
  left join lateral (
    select minutes from working_hours
    where company_id = asked.company_id and employee_id = asked.employee_id and valid_from <= asked.day
    order by valid_from desc limit 1
  ) as entry on true
)`;

export type EmployeeRange = { companyId: number; employeeId: number; from: string; to: string };

/** {@link expectedDays} of one employee. */
export const expectedDaysOf = ({ companyId, employeeId, from, to }: EmployeeRange) =>
  expectedDays({
    company: sql`${companyId}::bigint`,
    employee: sql`${employeeId}::bigint`,
    from: sql`${from}::date`,
    to: sql`${to}::date`,
  });
