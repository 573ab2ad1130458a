import { sql } from 'kysely';
import type { Db } from '../../../db/open.ts';
import type { TaskDraft } from './drafts.ts';

export type TaskToInsert = { draft: TaskDraft; taskId: number; projectId: number; ownerId: number };

/** Inserts tasks with their collaborators. */
export async function insertTasks(db: Db, companyId: number, tasks: readonly TaskToInsert[], now: Date): Promise<void> {
  const drafts = tasks.map(({ draft }) => draft);
  await sql`
    insert into tasks (
      company_id, task_id, project_id, title, description, status, owner_id, due_date, estimated_hours, completed_at,
      created_at, updated_at
    )
    overriding system value
    select ${companyId}::bigint, g.*, ${now}::timestamptz, ${now}::timestamptz
    from unnest(
      ${tasks.map(({ taskId }) => taskId)}::bigint[], ${tasks.map(({ projectId }) => projectId)}::bigint[],
      ${drafts.map(({ title }) => title)}::text[], ${drafts.map(({ description }) => description)}::text[],
      ${drafts.map(({ status }) => status)}::text[], ${tasks.map(({ ownerId }) => ownerId)}::bigint[],
      ${drafts.map(({ dueDate }) => dueDate)}::date[], ${drafts.map(({ estimatedHours }) => estimatedHours)}::numeric[],
      ${drafts.map(({ completedAt }) => completedAt)}::timestamptz[]
    ) as g`.execute(db);
  const pairs = tasks.flatMap(({ draft, taskId }) =>
    draft.collaboratorIds.map((employeeId) => ({ taskId, employeeId })),
  );
  if (pairs.length === 0) return;
  await sql`
    insert into task_collaborators (company_id, task_id, employee_id)
    select ${companyId}::bigint, g.*
    from unnest(
      ${pairs.map(({ taskId }) => taskId)}::bigint[], ${pairs.map(({ employeeId }) => employeeId)}::bigint[]
    ) as g`.execute(db);
}
