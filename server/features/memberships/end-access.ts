import type { Db } from '../../../db/open.ts';
import { isLiveAt } from './api-key.ts';
import { apiKeyColumns, recordRevoked } from './api-key-changes.ts';

/*
 * A change that ends a membership or removes rights from it also ends, in the same transaction, the sessions and API keys that
 * depend on it, and the sessions that those keys opened. Sockets follow within two seconds (`events/access-check.ts`).
 */

export type EmployeeRef = { companyId: number; employeeId: number };

/** Why access ends, and by whom: an employee of the same company, or the service (null). */
export type Ending = { because: string; actorId: number | null; now: Date };

/** Ends an employee's access: the sessions in this company, its API keys, and the sessions that those opened. */
export async function endAccess(db: Db, employee: EmployeeRef, ending: Ending): Promise<void> {
  await endSessionsOf(db, employee, ending.because, ending.now);
  await endApiKeysOf(db, employee, ending);
}

/** Ends the sessions of an employee in their company; returns how many had not expired. */
export async function endSessionsOf(
  db: Db,
  { companyId, employeeId }: EmployeeRef,
  because: string,
  now: Date,
): Promise<number> {
  const ended = await db
    .updateTable('sessions')
    .set({ ended_at: now, ended_because: because })
    .where('company_id', '=', companyId)
    .where('employee_id', '=', employeeId)
    .where('ended_at', 'is', null)
    .returning('expires_at')
    .execute();
  return ended.filter(({ expires_at: expiresAt }) => expiresAt > now).length;
}

/** Revokes the API keys of an employee and ends the sessions that they opened; returns the number of keys that were live. */
export async function endApiKeysOf(db: Db, { companyId, employeeId }: EmployeeRef, ending: Ending): Promise<number> {
  const { because, now } = ending;
  const revoked = await db
    .updateTable('api_keys')
    .set({ revoked_at: now })
    .where('company_id', '=', companyId)
    .where('employee_id', '=', employeeId)
    .where('revoked_at', 'is', null)
    .returning((eb) => [...apiKeyColumns, isLiveAt(now)(eb).as('isLive')])
    .execute();
  for (const key of revoked) recordRevoked(db, companyId, key, ending);
  await endSessionsOpenedBy(
    db,
    { companyId, apiKeyIds: revoked.map(({ api_key_id: apiKeyId }) => apiKeyId) },
    because,
    now,
  );
  return revoked.filter(({ isLive }) => isLive).length;
}

/** Ends the sessions that keys opened for any employees. */
export async function endSessionsOpenedBy(
  db: Db,
  { companyId, apiKeyIds }: { companyId: number; apiKeyIds: number[] },
  because: string,
  now: Date,
): Promise<void> {
  if (apiKeyIds.length === 0) return;
  await db
    .updateTable('sessions')
    .set({ ended_at: now, ended_because: because })
    .where('company_id', '=', companyId)
    .where((eb) => eb('opened_by_key_id', '=', eb.fn.any(eb.val(apiKeyIds))))
    .where('ended_at', 'is', null)
    .execute();
}

/** A key signs others in while its creator is an admin: the loss of that right ends the sessions that it opened. */
export async function endSessionsOpenedByKeysOf(
  db: Db,
  { companyId, employeeId }: EmployeeRef,
  because: string,
  now: Date,
): Promise<void> {
  const keys = await db
    .selectFrom('api_keys')
    .where('company_id', '=', companyId)
    .where('employee_id', '=', employeeId)
    .where('revoked_at', 'is', null)
    .select('api_key_id')
    .execute();
  const apiKeyIds = keys.map(({ api_key_id: apiKeyId }) => apiKeyId);
  await endSessionsOpenedBy(db, { companyId, apiKeyIds }, because, now);
}
