import type { Db } from '../../../db/open.ts';
import { acrossCompanies } from '../../../db/scope.ts';

/* The companies of an account, read across companies. */

/** A company of an account, and its employee there. */
export type Membership = { company_id: number; company_name: string; employee_id: number; isAdmin: boolean };

/** The companies in which an account is an active employee; a closed one until its end, whenever it is removed. */
export async function listMemberships(db: Db, accountId: number, now: Date): Promise<Membership[]> {
  return acrossCompanies(db)
    .selectFrom('employees as e')
    .innerJoin('companies as c', 'c.company_id', 'e.company_id')
    .where('e.account_id', '=', accountId)
    .where('e.is_active', '=', true)
    .where('e.is_deleted', '=', false)
    .where((eb) => eb.or([eb('c.closes_at', 'is', null), eb('c.closes_at', '>', now)]))
    .select(['c.company_id', 'c.name as company_name', 'e.employee_id', 'e.is_admin as isAdmin'])
    .orderBy('c.company_id')
    .execute();
}

/** Every employee that an account was linked to, inactive and deleted ones included. */
export async function listEmployeesOf(db: Db, accountId: number): Promise<{ companyId: number; employeeId: number }[]> {
  return acrossCompanies(db)
    .selectFrom('employees as e')
    .innerJoin('companies as c', 'c.company_id', 'e.company_id')
    .where('e.account_id', '=', accountId)
    .select(['c.company_id as companyId', 'e.employee_id as employeeId'])
    .execute();
}
