import type { Db } from '../../../db/open.ts';
import { EMPLOYEE_EXISTS, LAST_ADMIN } from './errors.ts';
import type { LockedEmployee } from './queries.ts';

/*
 * Rules on the employees of a company. A change that could leave it without an active admin, or that uses an e-mail
 * address, locks the company's row, so that two such changes run one after another. That lock is taken before any on an
 * employee.
 */

export async function lockAdmins(db: Db, companyId: number): Promise<void> {
  await db
    .selectFrom('companies')
    .where('company_id', '=', companyId)
    .select('company_id')
    // The weaker lock lets others insert rows that refer to the company.
    .forNoKeyUpdate()
    .execute();
}

/** Throws if the last active admin would leave; call {@link lockAdmins} first. */
export async function requireAnotherAdmin(db: Db, leaving: LockedEmployee): Promise<void> {
  if (!leaving.is_admin || !leaving.is_active) return;
  if (!(await hasAnotherAdmin(db, leaving.company_id, leaving.employee_id))) throw LAST_ADMIN();
}

/** Whether the company has an active admin besides this employee. */
export async function hasAnotherAdmin(db: Db, companyId: number, employeeId: number): Promise<boolean> {
  const other = await db
    .selectFrom('employees')
    .where('company_id', '=', companyId)
    .where('is_admin', '=', true)
    .where('is_active', '=', true)
    .where('is_deleted', '=', false)
    .where('employee_id', '!=', employeeId)
    .select('employee_id')
    .limit(1)
    .executeTakeFirst();
  return other !== undefined;
}

/** Throws if an employee of the company has the address; call {@link lockAdmins} first. */
export async function requireFreeAddress(db: Db, companyId: number, email: string): Promise<void> {
  const holder = await db
    .selectFrom('employees')
    .where('company_id', '=', companyId)
    .where('email', '=', email)
    .select(['employee_id', 'is_deleted'])
    .executeTakeFirst();
  if (!holder) return;
  throw EMPLOYEE_EXISTS(
    holder.is_deleted
      ? {
          detail: `A deleted employee has this e-mail address: restore them with POST /api/employees/${holder.employee_id}/restore/.`,
        }
      : {},
  );
}
