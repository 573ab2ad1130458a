import { sql } from 'kysely';
import type { Db } from '../../../db/open.ts';
import { notActiveIssue, VALIDATION_FAILED } from '../../errors/errors.ts';

/**
 * Sets the collaborators of a task, each once. A new one must be an active employee of the company; an earlier one may
 * stay although deactivated since. All others are errors, by their index. The task must be new or locked. Returns the
 * new collaborators.
 */
export async function setCollaborators(
  db: Db,
  { companyId, taskId, employeeIds }: { companyId: number; taskId: number; employeeIds: readonly number[] },
): Promise<number[]> {
  const { rows } = await sql<{ employee_id: number; is_added: boolean }>`
    with asked as (
      select distinct unnest(${employeeIds}::bigint[]) as employee_id
    ), able as (
      select e.employee_id from employees as e join asked using (employee_id)
      where e.company_id = ${companyId} and e.is_active
      union
      select c.employee_id from task_collaborators as c join asked using (employee_id)
      where c.company_id = ${companyId} and c.task_id = ${taskId}
    ), removed as (
      delete from task_collaborators as r
      where r.company_id = ${companyId} and r.task_id = ${taskId} and r.employee_id <> all (${employeeIds}::bigint[])
    ), added as (
      insert into task_collaborators (company_id, task_id, employee_id)
      select ${companyId}::bigint, ${taskId}::bigint, employee_id from able
      on conflict do nothing
      returning employee_id
    )
    select employee_id, false as is_added from asked where employee_id not in (select employee_id from able)
    union all
    select employee_id, true from added`.execute(db);
  const idsOf = (isAdded: boolean) => rows.filter((row) => row.is_added === isAdded).map((row) => row.employee_id);
  const unknown = idsOf(false);
  if (unknown.length > 0) throw notCollaborators(employeeIds, new Set(unknown));
  return idsOf(true);
}

function notCollaborators(employeeIds: readonly number[], unknown: ReadonlySet<number>) {
  const issues = employeeIds.flatMap((employeeId, index) =>
    unknown.has(employeeId) ? [notActiveIssue('collaboratorIds', index)] : [],
  );
  const sentences = issues.slice(0, 3).map(({ path, message }) => `${path.join('.')} ${message}.`);
  return VALIDATION_FAILED({ issues, detail: sentences.join(' ') });
}
