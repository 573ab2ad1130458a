import type { Db } from '../../../db/open.ts';
import { endSessions, getOrInsertAccount } from '../auth/accounts.ts';
import type { LockedEmployee } from './queries.ts';
import { requireFreePlace } from './standing.ts';

/**
 * Has an employee sign in with another address from now on, and answers with which account.
 * An account that is theirs alone takes the new address where that is nobody's; otherwise the employee
 * moves to the account of the new address. Either way the address is still to be proved by its owner.
 */
export async function changeEmail(
  db: Db,
  { company_id: companyId, employee_id: employeeId, account_id: accountId }: LockedEmployee,
  email: string,
  now: Date,
): Promise<number> {
  // Held against companies that add the same account meanwhile.
  await db.selectFrom('accounts').where('account_id', '=', accountId).select('account_id').forUpdate().execute();
  const made = await insertAccount(db, email, now);
  const because = 'address changed by an admin';

  if (made === undefined || (await worksElsewhere(db, companyId, accountId))) {
    const account = await getOrInsertAccount(db, email, now);
    await requireFreePlace(db, companyId, account.account_id);
    // Not those of the whole account: elsewhere it goes on as before.
    await db
      .updateTable('sessions')
      .set({ ended_at: now, ended_because: because })
      .where('company_id', '=', companyId)
      .where('employee_id', '=', employeeId)
      .where('ended_at', 'is', null)
      .execute();
    return account.account_id;
  }
  // The new row kept the address for this transaction; now the old account takes it.
  await db.deleteFrom('accounts').where('account_id', '=', made).execute();
  await db
    .updateTable('accounts')
    .set({ email, email_verified_at: null, updated_at: now })
    .where('account_id', '=', accountId)
    .execute();
  // Links that went to the old address open nothing any more.
  await db.deleteFrom('one_time_tokens').where('account_id', '=', accountId).execute();
  await endSessions(db, { accountId }, because, now);
  return accountId;
}

/** Answers the new account, or nothing where the address has one. Waits for others who are about to make it. */
async function insertAccount(db: Db, email: string, now: Date): Promise<number | undefined> {
  const made = await db
    .insertInto('accounts')
    .values({ email, created_at: now, updated_at: now })
    .onConflict((conflict) => conflict.column('email').doNothing())
    .returning('account_id')
    .executeTakeFirst();
  return made?.account_id;
}

async function worksElsewhere(db: Db, companyId: number, accountId: number): Promise<boolean> {
  const other = await db
    .selectFrom('employees')
    .where('account_id', '=', accountId)
    .where('company_id', '!=', companyId)
    .select('employee_id')
    .limit(1)
    .executeTakeFirst();
  return other !== undefined;
}
