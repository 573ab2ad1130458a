import { sql } from 'kysely';
import type { Db } from '../../../db/open.ts';
import { batchSize, type Position, type MorningNotice } from './batch.ts';

type DueTask = {
  task_id: number;
  project_id: number;
  title: string;
  due_date: string;
  employee_id: number;
  owner_id: number;
};

/** The active owner and collaborators of each open task that is due on the next day. */
export async function listDueTomorrow(db: Db, position: Position): Promise<MorningNotice[]> {
  const rows = await listDue(db, position, { daysAhead: 1, isForAll: true });
  return rows.map((row) => ({
    taskId: row.task_id,
    notification: {
      ...fieldsOf(row, position),
      cause: `task ${row.task_id} due ${row.due_date}`,
      category: 'task',
      priority: row.employee_id === row.owner_id ? 'primary' : 'updates',
      title: `${row.title} is due tomorrow`,
      message: `${row.employee_id === row.owner_id ? 'It is your task' : 'You work on it'}, and it is due on ${row.due_date}.`,
    },
  }));
}

/** The owner of each task that is still open on the morning after its due day. */
export async function listOverdue(db: Db, position: Position): Promise<MorningNotice[]> {
  const rows = await listDue(db, position, { daysAhead: -1, isForAll: false });
  return rows.map((row) => ({
    taskId: row.task_id,
    notification: {
      ...fieldsOf(row, position),
      cause: `task ${row.task_id} overdue since ${row.due_date}`,
      category: 'need_attention',
      priority: 'primary',
      title: `${row.title} is overdue`,
      message: `It was due on ${row.due_date}. Finish it, or give it another due date.`,
    },
  }));
}

const fieldsOf = (row: DueTask, { settings }: Position) => ({
  recipientId: row.employee_id,
  appType: 'task' as const,
  link: `${settings.appUrl}/tasks/${row.task_id}`,
  actorId: null,
  taskId: row.task_id,
  projectId: row.project_id,
});

/** A batch of recipients, by task and person. Index `tasks_open_by_due_day` serves it from the position on. */
async function listDue(
  db: Db,
  { companyId, day, afterTaskId, afterEmployeeId }: Position,
  { daysAhead, isForAll }: { daysAhead: number; isForAll: boolean },
): Promise<DueTask[]> {
  const { rows } = await sql<DueTask>`
    select t.task_id, t.project_id, t.title, t.due_date, t.owner_id, r.employee_id
    from tasks as t
    join projects as p on p.company_id = t.company_id and p.project_id = t.project_id and p.deleted_at is null
    cross join lateral (
      select t.owner_id as employee_id
      union
      select k.employee_id from task_collaborators as k
      where ${isForAll} and k.company_id = t.company_id and k.task_id = t.task_id
    ) as r
    join employees as e on e.company_id = t.company_id and e.employee_id = r.employee_id
    where t.company_id = ${companyId} and t.due_date = ${day}::date + ${daysAhead}::integer
      and t.deleted_at is null and t.status <> 'done'
      and t.task_id >= ${afterTaskId} and (t.task_id, r.employee_id) > (${afterTaskId}, ${afterEmployeeId})
      and e.is_active and not e.is_deleted
    order by t.task_id, r.employee_id
    limit ${batchSize}`.execute(db);
  return rows;
}
