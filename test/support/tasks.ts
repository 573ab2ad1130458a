import type { Actor } from './actor.ts';
import type { Service } from './service.ts';

/** Puts a task into the database as it is: for tests of what happens on a task, not of how it is made. */
export async function insertTask(
  { database: { db }, clock }: Service,
  owner: Actor,
  { title = 'Draw the plans', collaborators = [] }: { title?: string; collaborators?: Actor[] } = {},
): Promise<number> {
  const now = clock.now();
  const company = { company_id: owner.companyId };
  const { project_id } = await db
    .insertInto('projects')
    .values({ ...company, name: 'Engine', owner_id: owner.employeeId, created_at: now, updated_at: now })
    .returning('project_id')
    .executeTakeFirstOrThrow();
  const { task_id } = await db
    .insertInto('tasks')
    .values({ ...company, project_id, title, owner_id: owner.employeeId, created_at: now, updated_at: now })
    .returning('task_id')
    .executeTakeFirstOrThrow();
  for (const { employeeId } of collaborators)
    await db
      .insertInto('task_collaborators')
      .values({ ...company, task_id, employee_id: employeeId })
      .execute();
  return task_id;
}
