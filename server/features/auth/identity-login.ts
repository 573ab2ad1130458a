import { z } from 'zod';
import type { Db } from '../../../db/open.ts';
import type { Context, MutationScope } from '../../kernel/context.ts';
import { email } from '../../kernel/wire/fields.ts';
import { INVALID_IDENTITY_TOKEN, type Identity } from '../../platform/identity-provider.ts';
import { getAccountById, getOrInsertAccount, verifyAddress } from './accounts.ts';
import { linkClaimedAccount } from './apple-claims.ts';
import { storeTicketOf, useIdentityToken } from './identity-tokens.ts';
import type { LoginResult } from './schemas.ts';
import { signIn } from './sign-in.ts';

type IdentityLogin = {
  token: string;
  nonce?: string | null;
  email?: string | null;
  company_id?: number;
};

/** Accepted by both logins. */
export const identityFields = (provider: 'Apple' | 'Google') => ({
  token: z
    .string()
    .min(1)
    .max(16_384)
    .meta({ description: `${provider} identity token` }),
  email: email.nullish(),
  name: z
    .string()
    .max(300)
    .nullish()
    .meta({ description: 'Accepted and not used: an account has no name before its first company' }),
});

/** The same: binds a token to the sign-in that requested it. */
export const nonceField = {
  nonce: z.string().max(512).nullish().meta({
    description: 'The nonce that the token was asked for with: the token must carry it, or its SHA-256 as hex',
  }),
};

/**
 * Signs in the person that the provider identifies. The identity (issuer, subject) decides. Only the first login finds
 * an account by its address, and first removes what an owner without proof had set up there.
 */
export async function loginWithIdentity(
  ctx: Context & Pick<MutationScope, 'db' | 'afterCommit'>,
  method: 'google' | 'apple',
  input: IdentityLogin,
): Promise<z.input<typeof LoginResult>> {
  const identity = await ctx.services.identityProviders[method].verify(input.token, input.nonce);
  if (input.email && identity.email !== null && identity.email !== input.email) {
    throw INVALID_IDENTITY_TOKEN({ detail: 'The e-mail address is not the one that the identity token proves.' });
  }
  const now = ctx.services.clock.now();
  await useIdentityToken(ctx.db, identity, { companyId: input.company_id, now });
  const accountId =
    (await findLinkedAccount(ctx.db, identity)) ??
    (method === 'apple' ? await linkClaimedAccount(ctx.db, identity, now) : undefined) ??
    (await linkAccount(ctx.db, identity, now));
  const account = await getAccountById(ctx.db, accountId);
  // An identity may be linked to an account of another address than the provider confirms now.
  const provedAddress = identity.email === account.email ? identity.email : null;
  const answer = await signIn(ctx, { accountId, provedAddress }, { method, companyId: input.company_id });
  if ('login_ticket' in answer) await storeTicketOf(ctx.db, identity, answer.login_ticket);
  return answer;
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
  if (email === null) {
    // A concurrent login may have linked it.
    const linked = await findLinkedAccount(db, identity);
    if (linked !== undefined) return linked;
    throw INVALID_IDENTITY_TOKEN({
      detail: 'The token carries no e-mail address and this identity has not signed in here before.',
    });
  }
  const account = await getOrInsertAccount(db, email, now);
  await verifyAddress(db, account, now);
  await db
    .insertInto('identities')
    .values({ issuer, subject, account_id: account.account_id, email, created_at: now })
    .onConflict((conflict) => conflict.columns(['issuer', 'subject']).doNothing())
    .execute();
  // If the same person signed in twice at once, the first link is used.
  return (await findLinkedAccount(db, identity)) ?? account.account_id;
}
