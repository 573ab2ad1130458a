import { sql } from 'kysely';
import type { Db } from '../../../db/open.ts';
import { acrossCompanies } from '../../../db/scope.ts';

/* The end of accounts. An account belongs to no company, and its employees may be in any. */

/**
 * Locks accounts and their codes until the transaction ends, in the order in which sign-ins do (lock-access.ts): call it before an
 * employee of theirs is locked. Nobody signs in or accepts an invitation in the meantime.
 */
export async function lockAccounts(db: Db, accountIds: readonly number[]): Promise<void> {
  const all = acrossCompanies(db);
  await sql`
    select from one_time_codes where email in (select email from accounts where account_id = any(${accountIds}::bigint[]))
    order by email, purpose for update`.execute(all);
  await sql`
    select from accounts where account_id = any(${accountIds}::bigint[]) order by account_id for update`.execute(all);
}

/**
 * Deletes those of the accounts that are no employee of any company, with their identities, devices, sessions, tokens and codes;
 * returns them. Call {@link lockAccounts} first.
 */
export async function deleteUnusedAccounts(
  db: Db,
  accountIds: readonly number[],
): Promise<{ account_id: number; email: string }[]> {
  const all = acrossCompanies(db);
  const { rows: deleted } = await sql<{ account_id: number; email: string }>`
    delete from accounts as a where a.account_id = any(${accountIds}::bigint[])
      and not exists (select from employees as e where e.account_id = a.account_id)
    returning a.account_id, a.email`.execute(all);
  const addresses = deleted.map(({ email }) => email);
  await sql`delete from one_time_codes where email = any(${addresses}::text[])`.execute(all);
  return deleted;
}
