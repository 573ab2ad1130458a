import type { Db } from '../../../db/open.ts';
import type { Identity } from '../../platform/identity-provider.ts';

/** The time in which an Apple login must prove the `appleUserId` of a registration. */
const claimLifetimeMs = 24 * 3600 * 1000;
const relayDomain = '@privaterelay.appleid.com';

/** Stores the Apple subject that a registration claims, until an Apple login proves it. */
export async function storeAppleClaim(db: Db, claim: { accountId: number; subject: string; now: Date }): Promise<void> {
  const row = { created_at: claim.now, expires_at: new Date(claim.now.getTime() + claimLifetimeMs) };
  await db
    .insertInto('apple_claims')
    .values({ subject: claim.subject, account_id: claim.accountId, ...row })
    .onConflict((conflict) => conflict.columns(['subject', 'account_id']).doUpdateSet(row))
    .execute();
}

/**
 * Links the account whose registration claimed this subject to the identity that proves it now, once. An identity with
 * an address is found by the address instead. If several accounts claim the subject, none is linked.
 */
export async function linkClaimedAccount(db: Db, identity: Identity, now: Date): Promise<number | undefined> {
  const { issuer, subject, email } = identity;
  if (email !== null && !email.endsWith(relayDomain)) return undefined;
  const claims = await db
    .deleteFrom('apple_claims')
    .where('subject', '=', subject)
    .where('expires_at', '>', now)
    .returning('account_id')
    .execute();
  if (claims.length !== 1) return undefined;
  const linked = await db
    .insertInto('identities')
    .values({ issuer, subject, account_id: claims[0]!.account_id, email, created_at: now })
    .onConflict((conflict) => conflict.columns(['issuer', 'subject']).doNothing())
    .returning('account_id')
    .executeTakeFirst();
  return linked?.account_id;
}
