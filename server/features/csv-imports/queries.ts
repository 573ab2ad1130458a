import { sql } from 'kysely';
import type { Db } from '../../../db/open.ts';
import { fromProjects } from '../projects/queries.ts';
import type { LogDraft } from './drafts.ts';
import { inParts } from './in-parts.ts';
import type { Source } from './schemas.ts';

/** Imports of a company come one after the other, so that none imports what another one is importing. */
export async function lockImports(db: Db, companyId: number): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended('csv imports of ' || ${companyId}::text, 0))`.execute(db);
}

/** Of these rows those that were imported, with the task that each became or is the time of, if it is still visible. */
export async function findImported(
  db: Db,
  companyId: number,
  source: Source,
  keys: readonly string[],
): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  for await (const part of inParts(keys)) {
    const { rows } = await sql<{ row_key: string; task_id: number }>`
    select g.row_key, t.task_id
    from unnest(${part}::text[]) as g (row_key)
    -- The offsets force a look-up in an index for each row, whatever the planner estimates.
    cross join lateral (
      select r.task_id, r.task_log_id from imported_rows as r
      where r.company_id = ${companyId} and r.source = ${source} and r.row_key = g.row_key
      offset 0
    ) as r
    left join lateral (
      select l.task_id from task_logs as l where l.company_id = ${companyId} and l.task_log_id = r.task_log_id
      offset 0
    ) as l on true
    -- By itself, because row-level security keeps an expression out of the condition of an index.
    cross join lateral (select coalesce(r.task_id, l.task_id) as task_id offset 0) as known
    cross join lateral (
      select t.task_id, t.project_id, t.deleted_at from tasks as t
      where t.company_id = ${companyId} and t.task_id = known.task_id
      offset 0
    ) as t
    cross join lateral (
      select p.deleted_at from projects as p where p.company_id = ${companyId} and p.project_id = t.project_id
      offset 0
    ) as p
    -- Outside of them, or the planner would take a partial index that begins with other columns.
    where t.deleted_at is null and p.deleted_at is null`.execute(db);
    for (const row of rows) found.set(row.row_key, row.task_id);
  }
  return found;
}

export async function findProjectsByName(
  db: Db,
  companyId: number,
  names: readonly string[],
): Promise<{ project_id: number; name: string }[]> {
  return fromProjects(db, companyId)
    .where('name', '=', sql<string>`any(${names}::text[])`)
    .select(['project_id', 'name'])
    .execute();
}

export async function findTasksByTitle(
  db: Db,
  companyId: number,
  projectIds: readonly number[],
  titles: readonly string[],
): Promise<{ task_id: number; project_id: number; title: string }[]> {
  return db
    .selectFrom('tasks')
    .where('company_id', '=', companyId)
    .where('project_id', '=', sql<number>`any(${projectIds}::bigint[])`)
    .where('title', '=', sql<string>`any(${titles}::text[])`)
    .where('deleted_at', 'is', null)
    .select(['task_id', 'project_id', 'title'])
    .execute();
}

type OpenTask = { task_id: number; project_id: number; project: string; billable: boolean };

/** The tasks of these that can have time, with the names of their projects. */
export async function listTargets(db: Db, companyId: number, taskIds: readonly number[]): Promise<OpenTask[]> {
  const { rows } = await sql<OpenTask>`
    select t.task_id, t.project_id, p.name as project, p.billable
    from tasks as t
    -- A look-up in an index for each task, as in findImported.
    cross join lateral (
      select p.name, p.billable, p.deleted_at from projects as p
      where p.company_id = ${companyId} and p.project_id = t.project_id
      offset 0
    ) as p
    where t.company_id = ${companyId} and t.task_id = any(${taskIds}::bigint[])
      and t.deleted_at is null and p.deleted_at is null`.execute(db);
  return rows;
}

type OnTask = LogDraft & { taskId: number };

/** Those of the logs whose task, employee and start a stored log has. */
export async function findLogged(db: Db, companyId: number, logs: readonly OnTask[]): Promise<OnTask[]> {
  const found: OnTask[] = [];
  for await (const part of inParts(logs)) {
    const { rows } = await sql<{ position: number }>`
    select g.position::integer as position
    from unnest(
      ${part.map((log) => log.taskId)}::bigint[], ${part.map((log) => log.employeeId)}::bigint[],
      ${part.map((log) => log.start)}::timestamptz[]
    ) with ordinality as g (task_id, employee_id, start_time, position)
    cross join lateral (
      select from task_logs as l
      where l.company_id = ${companyId} and l.task_id = g.task_id and l.employee_id = g.employee_id
        and l.start_time = g.start_time
      offset 0
    ) as stored`.execute(db);
    found.push(...rows.map(({ position }) => part[position - 1]!));
  }
  return found;
}

/** A locked day of an employee, from its first moment to that of the next one. */
export type LockedDay = { employee_id: number; day: string; day_start: Date; day_end: Date };

/** The locked days that the logs are on, by their start. A company without a policy has none. */
export async function findLockedDays(db: Db, companyId: number, logs: readonly LogDraft[]): Promise<LockedDay[]> {
  const { rows } = await sql<LockedDay>`
    select d.employee_id, d.day, d.day_start, d.day_end
    from time_policies as p
    cross join lateral locked_days(
      p.company_id, ${logs.map((log) => log.employeeId)}::bigint[], ${logs.map((log) => log.start)}::timestamptz[],
      ${logs.map((log) => log.end)}::timestamptz[]
    ) as d
    where p.company_id = ${companyId}
    order by d.day_start`.execute(db);
  return rows;
}
