import type { Db } from '../../../db/open.ts';
import { SESSION_ENDED, Superseded } from '../../errors/errors.ts';
import type { Membership } from './account-memberships.ts';
import type { EmployeeRef } from './end-access.ts';

/*
 * Locks what a new session or API key depends on, until the transaction ends. A change that ends this access waits for the
 * transaction, and then ends the new session or key as well. If the change was first, nothing is left to lock. Both take the
 * locks in one order: codes and tickets, the account, employees by identifier, sessions, API keys.
 */

/** Locks the employee that an account is linked to. If the link has ended, the mutation runs again on what is there now. */
export async function lockMembership(db: Db, accountId: number, employee: EmployeeRef): Promise<void> {
  if (!(await lockEmployeeOf(db, accountId, employee))) throw new Superseded('the account has left the company');
}

/** Locks an account, if its password is still the one that a sign-in has compared; null where none was. */
export async function lockAccount(db: Db, accountId: number, passwordHash: string | null): Promise<void> {
  const locked = await db
    .selectFrom('accounts')
    .where('account_id', '=', accountId)
    .$if(passwordHash !== null, (query) => query.where('password_hash', '=', passwordHash))
    .select('account_id')
    .forShare()
    .executeTakeFirst();
  if (!locked) throw new Superseded('the password was changed, or the account deleted');
}

/**
 * Locks the admin whose key opens a session, and the active employee of an address whom it signs in; returns the latter. Reads
 * and locks them in one statement, so that nothing has changed in between.
 */
export async function lockSignInByKey(
  db: Db,
  { companyId, makerId, email }: { companyId: number; makerId: number; email: string },
): Promise<Membership | undefined> {
  const people = await db
    .selectFrom('employees as e')
    .innerJoin('companies as c', 'c.company_id', 'e.company_id')
    .where('e.company_id', '=', companyId)
    .where('e.is_active', '=', true)
    .where('e.is_deleted', '=', false)
    .where((eb) => eb.or([eb('e.employee_id', '=', makerId), eb('e.email', '=', email)]))
    .select(['c.company_id', 'c.name as company_name', 'e.employee_id', 'e.is_admin as isAdmin', 'e.email'])
    .orderBy('e.employee_id')
    .forKeyShare('e')
    .execute();
  if (!people.some((one) => one.employee_id === makerId && one.isAdmin))
    throw new Superseded('the maker of the key is no admin any more');
  return people.find((one) => one.email === email);
}

/** Locks the key that opens a session. */
export async function lockApiKey(db: Db, companyId: number, apiKeyId: number): Promise<void> {
  const locked = await db
    .selectFrom('api_keys')
    .where('company_id', '=', companyId)
    .where('api_key_id', '=', apiKeyId)
    .where('revoked_at', 'is', null)
    .select('api_key_id')
    .forShare()
    .executeTakeFirst();
  if (!locked) throw new Superseded('the key was revoked');
}

/** Locks the caller's employee, and then their session. Throws SESSION_ENDED if either has ended since they were authenticated. */
export async function lockCaller(
  db: Db,
  { accountId, sessionId, ...employee }: EmployeeRef & { accountId: number; sessionId: number },
): Promise<void> {
  const isLinked = await lockEmployeeOf(db, accountId, employee);
  const session = await db
    .selectFrom('sessions')
    .where('company_id', '=', employee.companyId)
    .where('session_id', '=', sessionId)
    .where('ended_at', 'is', null)
    .select('session_id')
    .forShare()
    .executeTakeFirst();
  if (!isLinked || !session) throw SESSION_ENDED();
}

async function lockEmployeeOf(db: Db, accountId: number, { companyId, employeeId }: EmployeeRef): Promise<boolean> {
  const locked = await db
    .selectFrom('employees')
    .where('company_id', '=', companyId)
    .where('employee_id', '=', employeeId)
    .where('account_id', '=', accountId)
    .where('is_active', '=', true)
    .where('is_deleted', '=', false)
    .select('employee_id')
    .forKeyShare()
    .executeTakeFirst();
  return locked !== undefined;
}
