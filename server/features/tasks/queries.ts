import { sql, type AliasableExpression, type Selectable } from 'kysely';
import { jsonArrayFrom } from 'kysely/helpers/postgres';
import type { z } from 'zod';
import { compiled, type ValueOrPlaceholder } from '../../../db/pipeline/compiled.ts';
import { inOrder } from '../../../db/pipeline/in-order.ts';
import { list } from '../../../db/pipeline/list.ts';
import type { Db } from '../../../db/open.ts';
import type { Schema } from '../../../db/schema.ts';
import type { Member } from '../../kernel/context.ts';
import type { StreamName } from '../../kernel/streams.ts';
import { reserveId } from '../../kernel/reserve-id.ts';
import { sortByName } from '../employees/sort-by-name.ts';
import { mayManage } from '../projects/queries.ts';
import type { Task, taskStatuses } from './schemas.ts';

export type TaskStatus = (typeof taskStatuses)[number];

/** The tasks of one company, deleted ones included. */
export const selectAllTasks = (db: Db, companyId: ValueOrPlaceholder<number>) =>
  db
    .selectFrom('tasks as t')
    .innerJoin('projects as p', (join) =>
      join.onRef('p.company_id', '=', 't.company_id').onRef('p.project_id', '=', 't.project_id'),
    )
    .where('t.company_id', '=', companyId);

/** The visible ones: a task is deleted with its project. */
export const selectVisibleTasks = (db: Db, companyId: ValueOrPlaceholder<number>) =>
  selectAllTasks(db, companyId).where('t.deleted_at', 'is', null).where('p.deleted_at', 'is', null);

export type VisibleTask = {
  task_id: number;
  project_id: number;
  title: string;
  owner_id: number;
  /** Whether time on its project is billable. */
  billable: boolean;
};

/** A task that is not deleted, of a project that is not. */
export async function findVisibleTask(db: Db, companyId: number, taskId: number): Promise<VisibleTask | undefined> {
  const [task] = await readVisibleTask(db, { companyId, taskId });
  return task;
}

const readVisibleTask = compiled<{ companyId: number; taskId: number }, VisibleTask>((db, placeholder) =>
  selectVisibleTasks(db, placeholder('companyId'))
    .where('t.task_id', '=', placeholder('taskId'))
    .select(['t.task_id', 't.project_id', 't.title', 't.owner_id', 'p.billable'])
    .compile(),
);

/** Those of the given tasks, of any companies, that are still visible. */
export async function findVisibleTasks(db: Db, tasks: StreamName[]): Promise<StreamName[]> {
  const { rows } = await sql<{ company_id: number; task_id: number }>`
    select t.company_id, t.task_id
    from unnest(
      ${tasks.map((one) => one.companyId)}::bigint[], ${tasks.map((one) => one.subject)}::bigint[]
    ) as asked (company_id, task_id)
    join tasks as t on t.company_id = asked.company_id and t.task_id = asked.task_id
    join projects as p on p.company_id = t.company_id and p.project_id = t.project_id
    where t.deleted_at is null and p.deleted_at is null`.execute(db);
  return rows.map((row) => ({ companyId: row.company_id, subject: row.task_id }));
}

/**
 * The same for writes that depend on the task's project (time logs): until the transaction ends the task is neither
 * moved nor deleted. Lock tasks in the order of their identifiers, and before any project's row.
 */
export async function lockVisibleTask(db: Db, companyId: number, taskId: number): Promise<VisibleTask | undefined> {
  const [task] = await lockShared(db, { companyId, taskId });
  return task;
}

const lockShared = compiled<{ companyId: number; taskId: number }, VisibleTask>((db, placeholder) => {
  const companyId = placeholder('companyId');
  return selectLocked(db, companyId, lockedTask(db, companyId, placeholder('taskId')).forShare()).compile();
});

/** The same for several tasks, locked in the order of their identifiers; returns those that exist. */
export async function lockVisibleTasks(db: Db, companyId: number, taskIds: readonly number[]): Promise<VisibleTask[]> {
  return lockAllShared(db, { companyId, taskIds });
}

const lockAllShared = compiled<{ companyId: number; taskIds: readonly number[] }, VisibleTask>((db, placeholder) =>
  sql<VisibleTask>`
    with t as materialized (
      select task_id, project_id, title, owner_id from tasks
      where company_id = ${placeholder('companyId')} and task_id = any(${list(placeholder('taskIds'), 'bigint')})
        and deleted_at is null
      order by task_id for share
    )
    select t.task_id, t.project_id, t.title, t.owner_id, p.billable
    from t
    -- The offset forces a look-up for each task: without statistics the planner compares each with all projects.
    cross join lateral (
      select billable, deleted_at from projects
      where company_id = ${placeholder('companyId')} and project_id = t.project_id
      offset 0
    ) as p
    where p.deleted_at is null`.compile(db),
);

async function lockTaskToChange(db: Db, companyId: number, taskId: number) {
  return selectLocked(db, companyId, lockedTask(db, companyId, taskId).forNoKeyUpdate())
    .select('p.owner_id as project_owner_id')
    .executeTakeFirst();
}

/**
 * Whether the caller may reassign, move or delete a task: its owner, the owner of its project, team leaders and admins.
 * The owner of a task may delete its comments, so people cannot make themselves owner.
 */
export function mayManageTask(caller: Member, task: { owner_id: number; project_owner_id: number }): boolean {
  return mayManage(caller, task) || task.project_owner_id === caller.employeeId;
}

function lockedTask(db: Db, companyId: ValueOrPlaceholder<number>, taskId: ValueOrPlaceholder<number>) {
  return db
    .selectFrom('tasks')
    .where('company_id', '=', companyId)
    .where('task_id', '=', taskId)
    .where('deleted_at', 'is', null)
    .select(['company_id', 'task_id', 'project_id', 'title', 'owner_id', 'status', 'due_date', 'completed_at']);
}

/** Locked first and joined afterwards: a lock on a join would lose a task that moved during the wait. */
function selectLocked(db: Db, companyId: ValueOrPlaceholder<number>, task: ReturnType<typeof lockedTask>) {
  return db
    .with('t', () => task)
    .selectFrom('t')
    .innerJoin('projects as p', 'p.project_id', 't.project_id')
    .where('p.company_id', '=', companyId)
    .where('p.deleted_at', 'is', null)
    .select([
      't.task_id',
      't.project_id',
      't.title',
      't.owner_id',
      't.status',
      't.due_date',
      't.completed_at',
      'p.billable',
    ]);
}

type TaskRow = Omit<Selectable<Schema['tasks']>, 'deleted_at'>;

/** The columns of a Task but its collaborators. */
export const taskColumns = [
  't.company_id',
  't.task_id',
  't.project_id',
  't.title',
  't.description',
  't.status',
  't.owner_id',
  't.due_date',
  't.estimated_hours',
  't.completed_at',
  't.created_at',
  't.updated_at',
] as const;

type WithCollaborators = { collaborators: { employee_id: number; name: string }[] };

/** Adds collaborators to selected tasks, in one statement for any number. */
export function selectWithCollaborators(db: Db, chosen: AliasableExpression<TaskRow>) {
  return db
    .selectFrom(chosen.as('t'))
    .selectAll('t')
    .select((outer) =>
      jsonArrayFrom(
        outer
          .selectFrom('task_collaborators as c')
          .innerJoin('employees as e', (join) =>
            join.onRef('e.company_id', '=', 'c.company_id').onRef('e.employee_id', '=', 'c.employee_id'),
          )
          .whereRef('c.company_id', '=', 't.company_id')
          .whereRef('c.task_id', '=', 't.task_id')
          .select(['e.employee_id', 'e.name']),
      ).as('collaborators'),
    );
}

/** The identifier of a task that is inserted later. */
export const reserveTaskId = (db: Db): Promise<number> => reserveId(db, 'tasks_task_id_seq');

export const insertTask = compiled<TaskRow, object>((db, placeholder) =>
  sql<object>`
    insert into tasks (
      company_id, task_id, project_id, title, description, status, owner_id, due_date, estimated_hours, completed_at, created_at, updated_at
    )
    overriding system value
    values (
      ${placeholder('company_id')}, ${placeholder('task_id')}, ${placeholder('project_id')}, ${placeholder('title')},
      ${placeholder('description')}, ${placeholder('status')}, ${placeholder('owner_id')}, ${placeholder('due_date')},
      ${placeholder('estimated_hours')}, ${placeholder('completed_at')}, ${placeholder('created_at')}, ${placeholder('updated_at')}
    )`.compile(db),
);

/** A task that the caller has just written, even if its project is being deleted. */
export async function getWrittenTask(db: Db, companyId: number, taskId: number): Promise<z.input<typeof Task>> {
  return toTask(await selectWritten(db, companyId, taskId).executeTakeFirstOrThrow());
}

/**
 * Locks a task for a change or its deletion, with the owner of its project, and returns it as it is before that. It is read
 * behind the lock: the statement that waits for the lock would see the collaborators of before the wait.
 */
export async function lockTaskWithRecord(db: Db, companyId: number, taskId: number) {
  const [locked, row] = await inOrder(db, [
    () => lockTaskToChange(db, companyId, taskId),
    () => selectWritten(db, companyId, taskId).executeTakeFirst(),
  ]);
  return locked && row && { ...locked, record: toTask(row) };
}

function selectWritten(db: Db, companyId: number, taskId: number) {
  const task = db
    .selectFrom('tasks as t')
    .where('t.company_id', '=', companyId)
    .where('t.task_id', '=', taskId)
    .select(taskColumns);
  return selectWithCollaborators(db, task);
}

export function toTask(row: TaskRow & WithCollaborators): z.input<typeof Task> {
  return {
    _id: row.task_id,
    projectId: row.project_id,
    title: row.title,
    description: row.description,
    status: row.status as TaskStatus,
    owner_id: row.owner_id,
    collaborators: sortByName(row.collaborators).map((one) => ({ _id: one.employee_id, name: one.name })),
    dueDate: row.due_date,
    estimatedHours: row.estimated_hours,
    completedAt: row.completed_at,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
