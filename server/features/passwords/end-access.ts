import type { Db } from '../../../db/open.ts';
import { inCompany } from '../../../db/scope.ts';
import type { Account } from '../auth/accounts.ts';
import { listEmployeesOf } from '../memberships/account-memberships.ts';

/** Ends the open links, codes and tickets of an account. Call it before the account is changed, and its sessions are ended. */
export async function endOpenProofs(
  db: Db,
  { account_id: accountId, email }: Pick<Account, 'account_id' | 'email'>,
  now: Date,
): Promise<void> {
  await db
    .updateTable('one_time_tokens')
    .set({ used_at: now })
    .where('account_id', '=', accountId)
    .where('used_at', 'is', null)
    .execute();
  await db
    .updateTable('one_time_codes')
    .set({ used_at: now })
    .where('email', '=', email)
    .where('used_at', 'is', null)
    .execute();
}

/** Describes the live API keys of an account, for a mail. */
export async function describeApiKeys(db: Db, accountId: number, now: Date): Promise<string[]> {
  const found: string[] = [];
  for (const { companyId, employeeId } of await listEmployeesOf(db, accountId)) {
    const keys = await inCompany(db, companyId)
      .selectFrom('api_keys as k')
      .innerJoin('companies as c', 'c.company_id', 'k.company_id')
      .where('k.company_id', '=', companyId)
      .where('k.employee_id', '=', employeeId)
      .where('k.revoked_at', 'is', null)
      .where((eb) => eb.or([eb('k.expires_at', 'is', null), eb('k.expires_at', '>', now)]))
      .select(['k.name', 'k.key_start', 'c.name as company'])
      .orderBy('k.api_key_id')
      .execute();
    found.push(...keys.map((key) => `${key.name} (${key.key_start}…), ${key.company}`));
  }
  return found;
}
