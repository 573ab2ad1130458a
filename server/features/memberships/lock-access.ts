import type { Db } from '../../../db/open.ts';
import { SESSION_ENDED, Superseded } from '../../errors/errors.ts';
import type { EmployeeRef } from './membership.ts';

/*
 * Locks what a new session or API key depends on, until the transaction ends. A change that ends this access waits for the
 * transaction, and then ends the new session or key as well. If the change was first, nothing is left to lock. Both take the
 * locks in one order: codes and tickets, the account, the employee, sessions, API keys.
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
