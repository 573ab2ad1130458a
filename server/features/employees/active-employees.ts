import { compiled } from '../../../db/pipeline/compiled.ts';
import type { Db } from '../../../db/open.ts';

/** Whether work can be assigned to an employee: one of the company who is neither inactive nor deleted. */
export async function isActiveEmployee(db: Db, companyId: number, employeeId: number): Promise<boolean> {
  const [row] = await readActiveEmployee(db, { companyId, employeeId });
  return row !== undefined;
}

/** The same, and locks the employee, so that they stay active until the transaction ends. */
export async function lockActiveEmployee(db: Db, companyId: number, employeeId: number): Promise<boolean> {
  const row = await db
    .selectFrom('employees')
    .where('company_id', '=', companyId)
    .where('employee_id', '=', employeeId)
    .where('is_active', '=', true)
    .where('is_deleted', '=', false)
    .select('employee_id')
    .forKeyShare()
    .executeTakeFirst();
  return row !== undefined;
}

const readActiveEmployee = compiled<{ companyId: number; employeeId: number }, { employee_id: number }>(
  (db, placeholder) =>
    db
      .selectFrom('employees')
      .where('company_id', '=', placeholder('companyId'))
      .where('employee_id', '=', placeholder('employeeId'))
      .where('is_active', '=', true)
      .where('is_deleted', '=', false)
      .select('employee_id')
      .compile(),
);
