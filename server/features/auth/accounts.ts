import type { Selectable } from 'kysely';
import type { Db } from '../../../db/open.ts';
import type { Schema } from '../../../db/schema.ts';
import { acrossCompanies, inCompany } from '../../../db/scope.ts';
import { SESSION_ENDED } from '../../errors/errors.ts';
import { endApiKeysOf } from '../memberships/end-access.ts';
import { listEmployeesOf } from '../memberships/account-memberships.ts';

const columns = ['account_id', 'email', 'email_verified_at', 'password_hash'] as const;
export type Account = Pick<Selectable<Schema['accounts']>, (typeof columns)[number]>;

export async function findAccount(db: Db, email: string): Promise<Account | undefined> {
  return db.selectFrom('accounts').where('email', '=', email).select(columns).executeTakeFirst();
}

/** The account of a caller. Throws SESSION_ENDED if it was deleted since they were authenticated. */
export async function getAccountById(db: Db, accountId: number): Promise<Account> {
  return db
    .selectFrom('accounts')
    .where('account_id', '=', accountId)
    .select(columns)
    .executeTakeFirstOrThrow(() => SESSION_ENDED());
}

/**
 * Returns the account of an address, locked until the transaction ends; creates it if there is none. Of two concurrent
 * requests one creates it. It is one statement, so that the account cannot change its address between read and lock.
 */
export async function getOrInsertAccount(db: Db, email: string, now: Date): Promise<Account> {
  return (
    db
      .insertInto('accounts')
      .values({ email, created_at: now, updated_at: now })
      // Updating the key columns would block foreign key checks, and two sign-ins that refer to the account would
      // deadlock.
      .onConflict((conflict) =>
        conflict.column('email').doUpdateSet((eb) => ({ updated_at: eb.ref('accounts.updated_at') })),
      )
      .returning(columns)
      .executeTakeFirstOrThrow()
  );
}

/**
 * Records that the caller has proved the address. An earlier owner of the account had not, so everything that they set
 * up is removed: password, identities, sessions, API keys, open links.
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
  await db.deleteFrom('one_time_tokens').where('account_id', '=', accountId).execute();
  const because = 'address taken over by its owner';
  await endSessions(db, { accountId }, because, now);
  await endApiKeys(db, accountId, because, now);
}

/** Ends the live sessions of an account, except for the given one. */
export async function endSessions(
  db: Db,
  { accountId, except }: { accountId: number; except?: number },
  because: string,
  now: Date,
): Promise<void> {
  // They are in any company, or in none.
  await acrossCompanies(db)
    .updateTable('sessions')
    .set({ ended_at: now, ended_because: because })
    .where('account_id', '=', accountId)
    .where('session_id', '<>', except ?? 0)
    .where('ended_at', 'is', null)
    .execute();
}

/** Revokes the API keys that an account created in any company, and ends the sessions that they opened. */
export async function endApiKeys(db: Db, accountId: number, because: string, now: Date): Promise<void> {
  const places = await listEmployeesOf(db, accountId);
  for (const place of places)
    await endApiKeysOf(inCompany(db, place.companyId), place, { because, actorId: place.employeeId, now });
}
