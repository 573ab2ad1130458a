import type { Db } from '../../../db/open.ts';

export type Account = {
  account_id: number;
  email: string;
  email_verified_at: Date | null;
  password_hash: string | null;
};

export async function findAccount(db: Db, email: string): Promise<Account | undefined> {
  return db
    .selectFrom('accounts')
    .where('email', '=', email)
    .select(['account_id', 'email', 'email_verified_at', 'password_hash'])
    .executeTakeFirst();
}

export async function getAccountById(db: Db, accountId: number): Promise<Account> {
  return db
    .selectFrom('accounts')
    .where('account_id', '=', accountId)
    .select(['account_id', 'email', 'email_verified_at', 'password_hash'])
    .executeTakeFirstOrThrow();
}

/**
 * The account of an address, made now where there is none, and held until the transaction ends. Two requests at once
 * make one. It is one statement, so that an account cannot take another address between looking and holding.
 */
export async function getOrInsertAccount(db: Db, email: string, now: Date): Promise<Account> {
  return db
    .insertInto('accounts')
    .values({ email, created_at: now, updated_at: now })
    .onConflict((conflict) => conflict.column('email').doUpdateSet((eb) => ({ email: eb.ref('excluded.email') })))
    .returning(['account_id', 'email', 'email_verified_at', 'password_hash'])
    .executeTakeFirstOrThrow();
}

/**
 * Records that the caller has proved the address. Whoever set up the account before never did,
 * so their password, identities and sessions go.
 */
export async function verifyAddress(db: Db, account: Account, now: Date): Promise<void> {
  if (account.email_verified_at !== null) return;
  const { account_id: accountId } = account;
  await db
    .updateTable('accounts')
    .set({ email_verified_at: now, password_hash: null, updated_at: now })
    .where('account_id', '=', accountId)
    .execute();
  await db.deleteFrom('identities').where('account_id', '=', accountId).execute();
  await endSessions(db, { accountId }, 'address taken over by its owner', now);
}

/** Ends the live sessions of an account, but for the one that is named. */
export async function endSessions(
  db: Db,
  { accountId, except }: { accountId: number; except?: number },
  because: string,
  now: Date,
): Promise<void> {
  await db
    .updateTable('sessions')
    .set({ ended_at: now, ended_because: because })
    .where('account_id', '=', accountId)
    .where('session_id', '<>', except ?? 0)
    .where('ended_at', 'is', null)
    .execute();
}

/** Ends what an employee can get in with: the sessions of that place and its API keys. */
export async function endAccess(
  db: Db,
  { companyId, employeeId }: { companyId: number; employeeId: number },
  because: string,
  now: Date,
): Promise<void> {
  await db
    .updateTable('sessions')
    .set({ ended_at: now, ended_because: because })
    .where('company_id', '=', companyId)
    .where('employee_id', '=', employeeId)
    .where('ended_at', 'is', null)
    .execute();
  await db
    .updateTable('api_keys')
    .set({ revoked_at: now })
    .where('company_id', '=', companyId)
    .where('employee_id', '=', employeeId)
    .where('revoked_at', 'is', null)
    .execute();
}
