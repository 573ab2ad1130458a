import type { z } from 'zod';
import type { Db } from '../../../db/open.ts';
import type { Context } from '../../kernel/context.ts';
import { INVALID_IDENTITY_TOKEN, type Identity, type IdentityProvider } from '../../kernel/identity-provider.ts';
import { getOrInsertAccount, verifyAddress } from './accounts.ts';
import type { LoginResult } from './schemas.ts';
import { signIn } from './sign-in.ts';

type IdentityLogin = { token: string; email?: string | null | undefined; company_id?: number | undefined };

/**
 * Signs in whoever the provider vouches for. The identity (issuer, subject) decides; an account is found by its
 * address only the first time, and what an unproved owner had set up there goes first.
 */
export async function loginWithIdentity(
  ctx: Context & { db: Db },
  { provider, method }: { provider: IdentityProvider; method: 'google' | 'apple' },
  input: IdentityLogin,
): Promise<z.input<typeof LoginResult>> {
  const identity = await provider.verify(input.token);
  if (input.email && identity.email !== null && identity.email !== input.email) {
    throw INVALID_IDENTITY_TOKEN({ detail: 'The e-mail address is not the one that the identity token proves.' });
  }
  const now = ctx.services.clock.now();
  const accountId = (await findLinkedAccount(ctx.db, identity)) ?? (await linkAccount(ctx.db, identity, now));
  return signIn(ctx, { accountId, method, companyId: input.company_id });
}

async function findLinkedAccount(db: Db, { issuer, subject }: Identity): Promise<number | undefined> {
  const row = await db
    .selectFrom('identities')
    .where('issuer', '=', issuer)
    .where('subject', '=', subject)
    .select('account_id')
    .executeTakeFirst();
  return row?.account_id;
}

async function linkAccount(db: Db, identity: Identity, now: Date): Promise<number> {
  const { issuer, subject, email } = identity;
  if (email === null)
    throw INVALID_IDENTITY_TOKEN({
      detail: 'The token carries no e-mail address and this identity has not signed in here before.',
    });
  const account = await getOrInsertAccount(db, email, now);
  await verifyAddress(db, account, now);
  await db
    .insertInto('identities')
    .values({ issuer, subject, account_id: account.account_id, email, created_at: now })
    .onConflict((conflict) => conflict.columns(['issuer', 'subject']).doNothing())
    .execute();
  // Where the same person signed in twice at once, the first one's link stands.
  return (await findLinkedAccount(db, identity)) ?? account.account_id;
}
