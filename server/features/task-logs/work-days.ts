import { sql } from 'kysely';
import { compiled } from '../../../db/pipeline/compiled.ts';
import { list } from '../../../db/pipeline/list.ts';
import type { Db } from '../../../db/open.ts';

/** A person's time from one moment to another. */
export type Period = { employeeId: number; start: Date; end: Date };

export type WorkDay = { day: string; working_seconds: number };

/** The days that the given periods of one person touch, each with the working time of the whole day. */
export async function listWorkDays(db: Db, companyId: number, periods: readonly Period[]): Promise<WorkDay[]> {
  return readWorkDays(db, {
    companyId,
    employeeIds: periods.map(({ employeeId }) => employeeId),
    starts: periods.map(({ start }) => start),
    ends: periods.map(({ end }) => end),
  });
}

type Periods = { companyId: number; employeeIds: number[]; starts: Date[]; ends: Date[] };

const readWorkDays = compiled<Periods, WorkDay>((db, placeholder) =>
  sql<WorkDay>`
    with touched as materialized (
      select employee_id, day from touched_days(
        ${placeholder('companyId')}, ${list(placeholder('employeeIds'), 'bigint')},
        ${list(placeholder('starts'), 'timestamptz')}, ${list(placeholder('ends'), 'timestamptz')}
      )
    )
    select t.day, coalesce(w.working_seconds, 0) as working_seconds
    from touched as t
    left join work_days as w
      on w.company_id = ${placeholder('companyId')} and w.employee_id = t.employee_id and w.day = t.day
    order by t.day`.compile(db),
);
