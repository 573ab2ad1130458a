import type { Db } from '../../../db/open.ts';

/** The tasks of one company that can be seen: a task goes with its project when that is deleted. */
export function selectVisibleTasks(db: Db, companyId: number) {
  return db
    .selectFrom('tasks as t')
    .innerJoin('projects as p', (join) =>
      join.onRef('p.company_id', '=', 't.company_id').onRef('p.project_id', '=', 't.project_id'),
    )
    .where('t.company_id', '=', companyId)
    .where('t.deleted_at', 'is', null)
    .where('p.deleted_at', 'is', null);
}

export type VisibleTask = { task_id: number; project_id: number; title: string; owner_id: number };

/** A task that is not deleted, of a project that is not. */
export async function findVisibleTask(db: Db, companyId: number, taskId: number): Promise<VisibleTask | undefined> {
  return selectVisibleTasks(db, companyId)
    .where('t.task_id', '=', taskId)
    .select(['t.task_id', 't.project_id', 't.title', 't.owner_id'])
    .executeTakeFirst();
}

/**
 * The same for whoever writes by the task's project (time logs): until the transaction ends, the task neither moves to
 * another project nor is deleted. Take tasks in the order of their identifiers, and before any project's row.
 */
export async function lockVisibleTask(db: Db, companyId: number, taskId: number): Promise<VisibleTask | undefined> {
  return (
    db
      // Locked first and joined afterwards: a lock on a join would lose the task that has moved while it waited.
      .with('t', (cte) =>
        cte
          .selectFrom('tasks')
          .where('company_id', '=', companyId)
          .where('task_id', '=', taskId)
          .where('deleted_at', 'is', null)
          .select(['company_id', 'task_id', 'project_id', 'title', 'owner_id'])
          .forShare(),
      )
      .selectFrom('t')
      .innerJoin('projects as p', (join) =>
        join.onRef('p.company_id', '=', 't.company_id').onRef('p.project_id', '=', 't.project_id'),
      )
      .where('p.deleted_at', 'is', null)
      .select(['t.task_id', 't.project_id', 't.title', 't.owner_id'])
      .executeTakeFirst()
  );
}

/** Who works on a task beside its owner, deactivated people included. */
export async function listCollaboratorIds(db: Db, companyId: number, taskId: number): Promise<number[]> {
  const rows = await db
    .selectFrom('task_collaborators')
    .where('company_id', '=', companyId)
    .where('task_id', '=', taskId)
    .select('employee_id')
    .orderBy('employee_id')
    .execute();
  return rows.map((row) => row.employee_id);
}
