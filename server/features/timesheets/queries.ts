import { sql, type RawBuilder } from 'kysely';
import { amountOf } from '../../../db/derived/amounts.ts';
import type { Db } from '../../../db/open.ts';
import { selectAllTasks } from '../tasks/queries.ts';

/** The scope of a timesheet: people, projects and days, from the start of `from` to the end of `to`, and whether to sum money. */
export type Scope = {
  companyId: number;
  from: string;
  to: string;
  employeeId: number | undefined;
  projectId: number | undefined;
  amounts: boolean;
};

/** The subjects of sums: the columns of a log that identify a person, a project or a task. */
export type Subject = 'employee_id' | 'project_id' | 'task_id';

/**
 * The logs of some subjects that overlap the range, with the range's first moment and the one after its last as `r`. A
 * log lasts a day at most, so indexes on its start are enough.
 */
function logsInRange({ companyId, from, to, employeeId, projectId }: Scope, subject: Subject, ids: number[]) {
  const only = (column: Subject, id: number | undefined) =>
    id === undefined ? sql`` : sql`and l.${sql.ref(column)} = ${id}`;
  return sql`
    (select timezone, local_day_start(${from}::date, timezone) as starts, local_day_start(${to}::date + 1, timezone) as ends
      from companies where company_id = ${companyId}) as r
    join task_logs as l on l.company_id = ${companyId} and l.${sql.ref(subject)} = any(${ids}::bigint[])
      and l.start_time > r.starts - interval '24 hours' and l.start_time < r.ends and l.end_time > r.starts
      ${only('employee_id', employeeId)} ${only('project_id', projectId)}`;
}

/**
 * Seconds of a log between two moments (names of columns), rounded from its start on, as stored by day, so that its parts add up
 * to its duration wherever it is cut; and what they amount to, in the same way.
 */
function between(starts: string, ends: string) {
  const until = `extract(epoch from least(l.end_time, ${ends}) - l.start_time)::integer`;
  const before = `extract(epoch from greatest(l.start_time, ${starts}) - l.start_time)::integer`;
  const cost = (seconds: string) => amountOf(seconds, 'l.rate_minor_units');
  return { seconds: sql.raw(`${until} - ${before}`), minorUnits: sql.raw(`${cost(until)} - ${cost(before)}`) };
}

/** The columns of sums; with money there is a sum for each currency, and one for time without a rate. */
function sums({ seconds, minorUnits }: ReturnType<typeof between>, { amounts }: Scope) {
  return amounts
    ? {
        columns: sql`sum(${seconds}) as seconds, l.currency, sum(${minorUnits})::bigint as minor_units`,
        groups: sql`, l.currency`,
      }
    : { columns: sql`sum(${seconds}) as seconds, null as currency, null as minor_units`, groups: sql`` };
}

/** Parts of less than half a second round to nothing: a subject with only such parts has no row. */
const hasTime = ({ seconds }: { seconds: RawBuilder<unknown> }) => sql`sum(${seconds}) > 0`;

export type Sum = { subject_id: number; seconds: number; currency: string | null; minor_units: number | null };

/** Logged time of each given subject that has any, in the whole range. */
export async function sumBySubject(db: Db, scope: Scope, subject: Subject, ids: number[]): Promise<Sum[]> {
  const part = between('r.starts', 'r.ends');
  const { columns, groups } = sums(part, scope);
  const { rows } = await sql<Sum>`
    select l.${sql.ref(subject)} as subject_id, ${columns}
    from ${logsInRange(scope, subject, ids)}
    group by l.${sql.ref(subject)}${groups}
    having ${hasTime(part)}`.execute(db);
  return rows;
}

export type DaySum = Sum & { day: string; detail_id: number | null };

/** A day's time of a person may be one sum, or one for each project or task, its detail. */
export type Detail = 'project_id' | 'task_id';

/** Logged time of people by day in the range, in the order of days and details. */
export async function sumByDay(db: Db, scope: Scope, employeeIds: number[], detail?: Detail): Promise<DaySum[]> {
  const part = between('d.starts', 'd.ends');
  const [detailId, byDetail] =
    detail === undefined ? [sql`null`, sql``] : [sql`l.${sql.ref(detail)}`, sql`, l.${sql.ref(detail)}`];
  const { columns, groups } = sums(part, scope);
  const { rows } = await sql<DaySum>`
    with days as materialized (
      select day, local_day_start(day, timezone) as starts, local_day_start(day + 1, timezone) as ends
      from companies, lateral (
        select ${scope.from}::date + n as day from generate_series(0, ${scope.to}::date - ${scope.from}::date) as n
      ) as asked
      where company_id = ${scope.companyId}
    )
    select l.employee_id as subject_id, d.day, ${detailId} as detail_id, ${columns}
    from ${logsInRange(scope, 'employee_id', employeeIds)}
    -- The days that clocks showed, and one more: where they are put back over midnight they show a day that is over.
    cross join lateral (
      select (l.start_time at time zone r.timezone)::date + n as day
      from generate_series(0, (l.end_time at time zone r.timezone)::date - (l.start_time at time zone r.timezone)::date + 1) as n
    ) as shown
    join days as d on d.day = shown.day and l.start_time < d.ends and l.end_time > d.starts
    group by l.employee_id, d.day${byDetail}${groups}
    having ${hasTime(part)}
    order by d.day${byDetail}`.execute(db);
  return rows;
}

type Named = { employee_id: number; name: string };

/** All employees whose time may be in the range, current and former. */
export async function listPeople(db: Db, { companyId, employeeId }: Scope): Promise<Named[]> {
  return db
    .selectFrom('employees')
    .where('company_id', '=', companyId)
    .$if(employeeId !== undefined, (query) => query.where('employee_id', '=', employeeId!))
    .select(['employee_id', 'name'])
    .execute();
}

/** All projects, also deleted ones: the time logged on them remains. */
export async function listProjects(db: Db, { companyId, projectId }: Scope) {
  return db
    .selectFrom('projects')
    .where('company_id', '=', companyId)
    .$if(projectId !== undefined, (query) => query.where('project_id', '=', projectId!))
    .select(['project_id', 'name'])
    .orderBy('project_id')
    .execute();
}

export type NamedTask = { task_id: number; title: string; project_id: number; project: string };

/** The next tasks after the given one, also deleted ones; for one person only those on which they logged time. */
export async function listTasksAfter(db: Db, scope: Scope, after: number, limit: number): Promise<NamedTask[]> {
  const { companyId, employeeId, projectId } = scope;
  return selectAllTasks(db, companyId)
    .where('t.task_id', '>', after)
    .$if(projectId !== undefined, (query) => query.where('t.project_id', '=', projectId!))
    .$if(employeeId !== undefined, (query) =>
      query.where((eb) =>
        eb.exists(
          eb
            .selectFrom('task_logs as l')
            .whereRef('l.company_id', '=', 't.company_id')
            .whereRef('l.task_id', '=', 't.task_id')
            .where('l.employee_id', '=', employeeId!)
            .select('l.task_id'),
        ),
      ),
    )
    .select(['t.task_id', 't.title', 't.project_id', 'p.name as project'])
    .orderBy('t.task_id')
    .limit(limit)
    .execute();
}

export type Details = ReadonlyMap<number, { project: string; task?: string }>;

/** What people call the given projects or tasks, also deleted ones. */
export async function nameDetails(db: Db, companyId: number, detail: Detail, ids: number[]): Promise<Details> {
  const wanted = sql<number>`any(${ids}::bigint[])`;
  if (detail === 'project_id') {
    const rows = await db
      .selectFrom('projects')
      .where('company_id', '=', companyId)
      .where('project_id', '=', wanted)
      .select(['project_id', 'name as project'])
      .execute();
    return new Map(rows.map(({ project_id: id, project }) => [id, { project }]));
  }
  const rows = await selectAllTasks(db, companyId)
    .where('t.task_id', '=', wanted)
    .select(['t.task_id', 't.title as task', 'p.name as project'])
    .execute();
  return new Map(rows.map(({ task_id: id, ...names }) => [id, names]));
}

/** The currencies of all money of the company that a timesheet can have, for the columns of a file. */
export async function listCurrencies(db: Db, companyId: number): Promise<string[]> {
  const rows = await db
    .selectFrom('project_amounts')
    .where('company_id', '=', companyId)
    .select('currency')
    .distinct()
    .orderBy('currency')
    .execute();
  return rows.map(({ currency }) => currency);
}
