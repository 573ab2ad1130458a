import { sql, type Selectable } from 'kysely';
import type { z } from 'zod';
import { compiled } from '../../../db/pipeline/compiled.ts';
import { inOrder } from '../../../db/pipeline/in-order.ts';
import { list } from '../../../db/pipeline/list.ts';
import type { Db } from '../../../db/open.ts';
import type { Schema } from '../../../db/schema.ts';
import { batchesOf } from '../../kernel/wire/json-stream.ts';
import type { Member } from '../../kernel/context.ts';
import { reserveId } from '../../kernel/reserve-id.ts';
import { lockVisibleTask } from '../tasks/queries.ts';
import { DUPLICATE_TASK_LOG } from './errors.ts';
import type { ChargedTaskLog, TaskLog } from '../tasks/task-log.ts';

export type TaskLogRow = Omit<Selectable<Schema['task_logs']>, 'company_id'>;

/** The columns of a TaskLog. */
export const columns = [
  'task_log_id',
  'task_id',
  'employee_id',
  'project_id',
  'start_time',
  'end_time',
  'duration_seconds',
  'description',
  'manual_add',
  'billable',
  'rate_minor_units',
  'currency',
  'created_at',
  'updated_at',
] as const;

export function toTaskLog(row: TaskLogRow): z.input<typeof TaskLog> {
  return {
    _id: row.task_log_id,
    taskId: row.task_id,
    userId: row.employee_id,
    projectId: row.project_id,
    startTime: row.start_time,
    endTime: row.end_time,
    durationSeconds: row.duration_seconds,
    description: row.description,
    manualAdd: row.manual_add,
    billable: row.billable,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

/** A log as an operation answers it: what it is charged at is for admins. */
export function toChargedTaskLog(row: TaskLogRow, caller: Member): z.input<typeof ChargedTaskLog> {
  const { rate_minor_units: rate, currency, duration_seconds: seconds } = row;
  if (!caller.isAdmin || rate === null || currency === null) return { ...toTaskLog(row), charge: null };
  const hourlyRate = { minorUnits: rate, currency };
  // The rule of db/derived/amounts.ts. Exact: the product is far below 2^53. Half a unit is 1,800.
  const minorUnits = Math.floor((seconds * rate + 1800) / 3600);
  return { ...toTaskLog(row), charge: { hourlyRate, amount: { minorUnits, currency } } };
}

/** The newest logs of a task up to a limit, the newest start first. */
export async function listNewestTaskLogs(
  db: Db,
  { companyId, taskId, limit }: { companyId: number; taskId: number; limit: number },
): Promise<TaskLogRow[]> {
  return db
    .selectFrom('task_logs')
    .where('company_id', '=', companyId)
    .where('task_id', '=', taskId)
    .select(columns)
    .orderBy('start_time', 'desc')
    .orderBy('task_log_id', 'desc')
    .limit(limit)
    .execute();
}

/** The limits of a batch: bytes of descriptions, and logs. */
const batch = { weightMax: 256 * 1024, countMax: 1_000 };

/**
 * All logs of a task in the same order, in batches. They are the logs of the start of reading, with their content at
 * the time when their batch is read; a log that has left the task by then is left out.
 */
export async function* taskLogsInBatches(db: Db, companyId: number, taskId: number): AsyncGenerator<TaskLogRow[]> {
  const { rows } = await sql<{ ids: number[]; sizes: number[] }>`
    select coalesce(array_agg(task_log_id order by start_time desc, task_log_id desc), '{}') as ids,
      coalesce(
        array_agg(coalesce(octet_length(description), 0)::bigint order by start_time desc, task_log_id desc), '{}'
      ) as sizes
    from task_logs where company_id = ${companyId} and task_id = ${taskId}`.execute(db);
  const { ids: all, sizes } = rows[0]!;
  for (const indexes of batchesOf(all.keys(), (index) => sizes[index]!, batch)) {
    const ids = indexes.map((index) => all[index]!);
    // The offset forces a look-up in the primary key for each row, whatever the planner estimates.
    const { rows: found } = await sql<TaskLogRow>`
      select ${sql.join(columns.map((name) => sql.ref(`l.${name}`)))}
      from unnest(${ids}::bigint[]) with ordinality as asked (task_log_id, place)
      cross join lateral (
        select * from task_logs where company_id = ${companyId} and task_log_id = asked.task_log_id offset 0
      ) as l
      where l.task_id = ${taskId}
      order by asked.place`.execute(db);
    yield found;
  }
}

export type NewTaskLog = {
  taskId: number;
  employeeId: number;
  projectId: number;
  startTime: Date;
  endTime: Date;
  description: string | null;
  manualAdd: boolean;
  billable: boolean;
};

/**
 * Inserts logs and returns the inserted ones. A log with the task, employee and start of another one (stored, earlier
 * in the list, or being stored concurrently) is left out: the constraint decides.
 */
export async function insertTaskLogs(
  db: Db,
  { companyId, logs, now }: { companyId: number; logs: readonly NewTaskLog[]; now: Date },
): Promise<TaskLogRow[]> {
  const column = <Key extends keyof NewTaskLog>(key: Key): NewTaskLog[Key][] => logs.map((log) => log[key]);
  return writeTaskLogs(db, {
    companyId,
    taskIds: column('taskId'),
    employeeIds: column('employeeId'),
    projectIds: column('projectId'),
    starts: column('startTime'),
    ends: column('endTime'),
    descriptions: column('description'),
    manual: column('manualAdd'),
    billable: column('billable'),
    now,
  });
}

/** The identifier of a log that is inserted later. */
export const reserveTaskLogId = (db: Db): Promise<number> => reserveId(db, 'task_logs_task_log_id_seq');

/** A log as it is going to be stored. */
export function toNewRow(taskLogId: number, log: NewTaskLog, now: Date): TaskLogRow {
  return {
    task_log_id: taskLogId,
    task_id: log.taskId,
    employee_id: log.employeeId,
    project_id: log.projectId,
    start_time: log.startTime,
    end_time: log.endTime,
    duration_seconds: Math.round((log.endTime.getTime() - log.startTime.getTime()) / 1000),
    description: log.description,
    manual_add: log.manualAdd,
    billable: log.billable,
    // The database finds the rate when the log is stored.
    rate_minor_units: null,
    currency: null,
    created_at: now,
    updated_at: now,
  };
}

/**
 * Inserts one log. A duplicate is a database error that ends the transaction: {@link refuseDuplicate} translates it.
 * That costs half as much as checking first.
 */
export async function insertTaskLog(db: Db, row: TaskLogRow & { company_id: number }): Promise<TaskLogRow> {
  const [made] = await writeTaskLog(db, row);
  return made!;
}

const writeTaskLog = compiled<TaskLogRow & { company_id: number }, TaskLogRow>((db, placeholder) =>
  sql<TaskLogRow>`
    insert into task_logs (
      company_id, task_log_id, task_id, employee_id, project_id, start_time, end_time, description, manual_add,
      billable, created_at, updated_at
    )
    overriding system value
    values (
      ${placeholder('company_id')}, ${placeholder('task_log_id')}, ${placeholder('task_id')}, ${placeholder('employee_id')},
      ${placeholder('project_id')}, ${placeholder('start_time')}, ${placeholder('end_time')}, ${placeholder('description')},
      ${placeholder('manual_add')}, ${placeholder('billable')}, ${placeholder('created_at')}, ${placeholder('updated_at')}
    )
    returning ${sql.join(columns.map((name) => sql.ref(name)))}`.compile(db),
);

/** Rethrows an error, as the API error for a duplicate log if it is one. */
export function refuseDuplicate(error: unknown): never {
  const isDuplicate = error instanceof Error && 'constraint' in error && error.constraint === 'task_logs_duplicate';
  throw isDuplicate ? DUPLICATE_TASK_LOG({ cause: error }) : error;
}

type NewTaskLogs = {
  companyId: number;
  taskIds: number[];
  employeeIds: number[];
  projectIds: number[];
  starts: Date[];
  ends: Date[];
  descriptions: (string | null)[];
  manual: boolean[];
  billable: boolean[];
  now: Date;
};

const writeTaskLogs = compiled<NewTaskLogs, TaskLogRow>((db, placeholder) =>
  // In the order of the constraint, so that two lists with common entries cannot deadlock.
  sql<TaskLogRow>`
    insert into task_logs (
      company_id, task_id, employee_id, project_id, start_time, end_time, description, manual_add, billable,
      created_at, updated_at
    )
    select
      ${placeholder('companyId')}::bigint, l.task_id, l.employee_id, l.project_id, l.start_time, l.end_time, l.description,
      l.manual_add, l.billable, ${placeholder('now')}::timestamptz, ${placeholder('now')}::timestamptz
    from unnest(
      ${list(placeholder('taskIds'), 'bigint')}, ${list(placeholder('employeeIds'), 'bigint')}, ${list(placeholder('projectIds'), 'bigint')},
      ${list(placeholder('starts'), 'timestamptz')}, ${list(placeholder('ends'), 'timestamptz')},
      ${list(placeholder('descriptions'), 'text')}, ${list(placeholder('manual'), 'boolean')},
      ${list(placeholder('billable'), 'boolean')}
    ) with ordinality as l (
      task_id, employee_id, project_id, start_time, end_time, description, manual_add, billable, position
    )
    order by l.task_id, l.employee_id, l.start_time, l.position
    on conflict on constraint task_logs_duplicate do nothing
    returning ${sql.join(columns.map((name) => sql.ref(name)))}`.compile(db),
);

/**
 * Locks a log and its task until the transaction ends, to change the log. A log is deleted with its task.
 *
 * The order is task, then log, as where a task is moved with its logs. The advisory lock keeps a log from being moved to another task
 * in between: a transaction that waits for a row while it is moved holds its lock afterwards,
 * and could lock its new task only after it.
 */
export async function lockTaskLog(db: Db, companyId: number, taskLogId: number): Promise<TaskLogRow | undefined> {
  const found = () =>
    db.selectFrom('task_logs').where('company_id', '=', companyId).where('task_log_id', '=', taskLogId);
  const [, seen] = await inOrder(db, [
    () => sql`select pg_advisory_xact_lock(hashtextextended(${`task log ${taskLogId}`}, 0))`.execute(db),
    () => found().select('task_id').executeTakeFirst(),
  ]);
  if (!seen || !(await lockVisibleTask(db, companyId, seen.task_id))) return undefined;
  return found().select(columns).forUpdate().executeTakeFirst();
}
