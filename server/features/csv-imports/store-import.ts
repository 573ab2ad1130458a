import { sql } from 'kysely';
import { lockCompanyDays, lockDays } from '../../../db/derived/work-time.ts';
import type { Db } from '../../../db/open.ts';
import { recordChange } from '../../kernel/change-event.ts';
import { changeStream } from '../../kernel/change-streams.ts';
import type { Member } from '../../kernel/context.ts';
import { projectCreated, projectImported } from '../projects/events.ts';
import { projectColumns, toProject } from '../projects/queries.ts';
import { DUPLICATE_TASK_LOG } from '../task-logs/errors.ts';
import { insertTaskLogs, type NewTaskLog } from '../task-logs/queries.ts';
import type { LogDraft } from './drafts.ts';
import { inParts } from './in-parts.ts';
import { notifyOwners } from './jobs.ts';
import type { Plan } from './plan-import.ts';
import type { Source } from './schemas.ts';
import { insertTasks, type TaskToInsert } from './insert-tasks.ts';

type Run = { caller: Member; source: Source; now: Date };

/** Stores what a plan says, and returns the identifiers of its projects by name. */
export async function storeImport(db: Db, plan: Plan, run: Run): Promise<Map<string, number>> {
  const { companyId } = run.caller;
  const projectIds = new Map([...plan.projectIds, ...(await createProjects(db, plan.newProjects, run))]);
  const made = await createTasks(db, { plan, projectIds }, run);
  for (const { projectId, project } of plan.targets.values()) projectIds.set(project, projectId);
  const logs = plan.newLogs.map((draft) => ({
    draft,
    log: toLog(draft, plan.targets.get(draft.task) ?? made.get(draft.task)!),
  }));
  await createLogs(db, logs, run);

  const tasksOf = Map.groupBy(made.values(), ({ projectId }) => projectId);
  const logsOf = Map.groupBy(logs, ({ log }) => log.projectId);
  for (const projectId of new Set([...tasksOf.keys(), ...logsOf.keys()]))
    recordChange(db, projectImported, {
      companyId,
      streams: [changeStream.project(projectId)],
      payload: {
        actorId: run.caller.employeeId,
        projectId,
        source: run.source,
        tasks: tasksOf.get(projectId)?.length ?? 0,
        taskLogs: logsOf.get(projectId)?.length ?? 0,
      },
      at: run.now,
    });
  await notifyOwners(db, [...made.values()], run);
  return projectIds;
}

async function createProjects(
  db: Db,
  names: readonly string[],
  { caller: { companyId, employeeId }, now }: Run,
): Promise<Map<string, number>> {
  if (names.length === 0) return new Map();
  const rows = await db
    .insertInto('projects')
    .columns(['company_id', 'name', 'owner_id', 'created_at', 'updated_at'])
    .expression((from) =>
      from
        .selectFrom(sql<{ name: string }>`unnest(${names}::text[])`.as<'given'>(sql`given (name)`))
        .select([
          sql<number>`${companyId}::bigint`.as('company_id'),
          'given.name',
          sql<number>`${employeeId}::bigint`.as('owner_id'),
          sql<Date>`${now}::timestamptz`.as('created_at'),
          sql<Date>`${now}::timestamptz`.as('updated_at'),
        ]),
    )
    .returning(projectColumns)
    .execute();
  for (const project of rows.map(toProject))
    recordChange(db, projectCreated, {
      companyId,
      streams: [changeStream.projects(companyId)],
      payload: { actorId: employeeId, projectId: project._id, project },
      at: now,
    });
  return new Map(rows.map((row) => [row.name, row.project_id]));
}

type Made = TaskToInsert & { billable: boolean };

/** The new tasks by reference. */
async function createTasks(
  db: Db,
  { plan, projectIds }: { plan: Plan; projectIds: ReadonlyMap<string, number> },
  { caller, source, now }: Run,
): Promise<Map<string, Made>> {
  const { companyId } = caller;
  const { rows } = await sql<{ id: number }>`
    select nextval('tasks_task_id_seq') as id from generate_series(1, ${plan.newTasks.size}::integer)`.execute(db);
  const wanted = [...new Set([...plan.newTasks.values()].map(({ project }) => projectIds.get(project)!))];
  const projects = await db
    .selectFrom('projects')
    .where('company_id', '=', companyId)
    .where('project_id', '=', sql<number>`any(${wanted}::bigint[])`)
    .select(['project_id', 'billable'])
    .execute();
  const billable = new Map(projects.map((row) => [row.project_id, row.billable]));
  const made = new Map(
    [...plan.newTasks].map(([ref, draft], index) => {
      const projectId = projectIds.get(draft.project)!;
      const ownerId = draft.ownerId ?? caller.employeeId;
      return [ref, { draft, taskId: rows[index]!.id, projectId, ownerId, billable: billable.get(projectId)! }] as const;
    }),
  );
  for await (const tasks of inParts([...made.values()])) {
    await insertTasks(db, companyId, tasks, now);
    const keyed = tasks.flatMap(({ draft, taskId }) => (draft.key === null ? [] : [{ key: draft.key, taskId }]));
    await rememberRows(db, { companyId, source }, keyed);
  }
  return made;
}

const toLog = (
  draft: LogDraft,
  { taskId, projectId, billable }: { taskId: number; projectId: number; billable: boolean },
): NewTaskLog => ({
  taskId,
  employeeId: draft.employeeId,
  projectId,
  startTime: draft.start,
  endTime: draft.end,
  description: draft.description,
  manualAdd: true,
  billable: draft.billable ?? billable,
});

/** Locks all days and then the projects before the first log, in the order of single logs. */
async function createLogs(
  db: Db,
  logs: readonly { draft: LogDraft; log: NewTaskLog }[],
  { caller: { companyId }, source, now }: Run,
): Promise<void> {
  if (logs.length === 0) return;
  const employeeIds = logs.map(({ log }) => log.employeeId);
  await lockDays(db, companyId, [...new Set(employeeIds)]);
  await lockCompanyDays(db, companyId, {
    employeeIds,
    starts: logs.map(({ log }) => log.startTime),
    ends: logs.map(({ log }) => log.endTime),
  });
  await sql`
    select from projects
    where company_id = ${companyId} and project_id = any(${[...new Set(logs.map(({ log }) => log.projectId))]}::bigint[])
    order by project_id for no key update`.execute(db);
  // By their start, so that few days are summed by two statements.
  for await (const part of inParts(logs.toSorted((a, b) => a.log.startTime.getTime() - b.log.startTime.getTime()))) {
    const rows = await insertTaskLogs(db, { companyId, logs: part.map(({ log }) => log), now });
    // Somebody has logged the same since the file was compared with what is stored.
    if (rows.length < part.length) throw DUPLICATE_TASK_LOG();
    const nameOf = (taskId: number, employeeId: number, start: Date) => `${taskId} ${employeeId} ${start.getTime()}`;
    const ids = new Map(rows.map((row) => [nameOf(row.task_id, row.employee_id, row.start_time), row.task_log_id]));
    const keyed = part.map(({ draft: { key }, log }) => ({
      key,
      taskLogId: ids.get(nameOf(log.taskId, log.employeeId, log.startTime))!,
    }));
    await rememberRows(db, { companyId, source }, keyed);
  }
}

type Remembered = { key: string; taskId?: number; taskLogId?: number };

/** A row whose task or log is no longer visible is known by its new one. */
async function rememberRows(
  db: Db,
  { companyId, source }: { companyId: number; source: Source },
  rows: readonly Remembered[],
): Promise<void> {
  await sql`
    insert into imported_rows (company_id, source, row_key, task_id, task_log_id)
    select ${companyId}, ${source}, g.row_key, g.task_id, g.task_log_id
    from unnest(
      ${rows.map(({ key }) => key)}::text[], ${rows.map(({ taskId = null }) => taskId)}::bigint[],
      ${rows.map(({ taskLogId = null }) => taskLogId)}::bigint[]
    ) as g (row_key, task_id, task_log_id)
    on conflict (company_id, source, row_key) do update
    set task_id = excluded.task_id, task_log_id = excluded.task_log_id`.execute(db);
}
