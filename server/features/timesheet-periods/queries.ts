import { sql, type Selectable } from 'kysely';
import type { z } from 'zod';
import { lockDays } from '../../../db/derived/work-time.ts';
import type { Db } from '../../../db/open.ts';
import type { Schema } from '../../../db/schema.ts';
import { notFoundIn } from '../../errors/errors.ts';
import type { Member } from '../../kernel/context.ts';
import type { PolicyRow } from '../time-policies/queries.ts';
import type { periodStates, TimesheetPeriod } from './schemas.ts';

export type PeriodState = (typeof periodStates)[number];
export type Period = z.input<typeof TimesheetPeriod>;
type PeriodRow = Selectable<Schema['timesheet_periods']> & { name: string };

/** The periods of a company with the names of their employees, for further conditions. */
export function selectPeriods(db: Db, companyId: number) {
  return db
    .selectFrom('timesheet_periods as p')
    .innerJoin('employees as e', (join) =>
      join.onRef('e.company_id', '=', 'p.company_id').onRef('e.employee_id', '=', 'p.employee_id'),
    )
    .where('p.company_id', '=', companyId)
    .select([
      'p.company_id',
      'p.employee_id',
      'p.first_day',
      'p.last_day',
      'p.period_id',
      'p.state',
      'p.submitted_by_id',
      'p.submitted_at',
      'p.decided_by_id',
      'p.decided_at',
      'p.note',
      'p.expected_minutes',
      'p.snapshot',
      'e.name',
    ]);
}

export function toPeriod(row: PeriodRow): Period {
  const snapshot = row.snapshot as unknown as Period['snapshot'];
  return {
    _id: row.period_id,
    employee_id: row.employee_id,
    name: row.name,
    firstDay: row.first_day,
    lastDay: row.last_day,
    status: row.state as PeriodState,
    submittedBy: row.submitted_by_id,
    submittedAt: row.submitted_at,
    decidedBy: row.decided_by_id,
    decidedAt: row.decided_at,
    note: row.note,
    expectedMinutes: row.expected_minutes,
    totalSeconds: snapshot.reduce((total, { seconds }) => total + seconds, 0),
    snapshot,
  };
}

export type StoredState = {
  employee_id: number;
  first_day: string;
  last_day: string;
  state: PeriodState;
  /** Who decided, and on which day where the company is. */
  decided_by: string | null;
  decided_on: string | null;
};

/** The states of periods of people that have a day in the range, in the order of days. */
export async function listStates(
  db: Db,
  { companyId, from, to }: { companyId: number; from: string; to: string },
  employeeIds: number[],
): Promise<StoredState[]> {
  const { rows } = await sql<StoredState>`
    select p.employee_id, p.first_day, p.last_day, p.state, e.name as decided_by,
      local_day(p.decided_at, c.timezone) as decided_on
    from timesheet_periods as p
    join companies as c on c.company_id = p.company_id
    left join employees as e on e.company_id = p.company_id and e.employee_id = p.decided_by_id
    where p.company_id = ${companyId} and p.employee_id = any(${employeeIds}::bigint[])
      and p.first_day <= ${to}::date and p.last_day >= ${from}::date
    order by p.first_day`.execute(db);
  return rows;
}

/** The periods of a company by their identifiers, locked together with the days of their employees. */
export async function lockPeriods(db: Db, companyId: number, periodIds: number[]): Promise<Map<number, Period>> {
  const found = await db
    .selectFrom('timesheet_periods')
    .where('company_id', '=', companyId)
    .where('period_id', '=', sql<number>`any(${periodIds}::bigint[])`)
    .select(['period_id', 'employee_id'])
    .execute();
  await lockDays(
    db,
    companyId,
    found.map((row) => row.employee_id),
  );
  const locked = await selectPeriods(db, companyId)
    .where('p.period_id', '=', sql<number>`any(${periodIds}::bigint[])`)
    .orderBy('p.period_id')
    .execute();
  return new Map(locked.map((row) => [row.period_id, toPeriod(row)]));
}

/** A period of the company that the input names as `period_id`, locked as {@link lockPeriods} does. */
export async function lockPeriod(db: Db, companyId: number, periodId: number): Promise<Period> {
  const period = (await lockPeriods(db, companyId, [periodId])).get(periodId);
  if (!period) throw notFoundIn('period_id');
  return period;
}

/** Whether the policy has the caller decide on periods. */
export const isApprover = (caller: Member, { approver }: PolicyRow): boolean =>
  caller.isAdmin || (caller.isTeamLeader && approver === 'teamLeader');

/** What the snapshot of a stored period is now; the days must be locked. */
export const currentSnapshot = sql<string>`period_snapshot(company_id, employee_id, first_day, last_day)`;
