import type { Db } from '../../../db/open.ts';
import { hashSecret } from '../../kernel/authentication.ts';
import { INVALID_IDENTITY_TOKEN, type Identity } from '../../platform/identity-provider.ts';

/*
 * An identity token signs in once. If its sign-in answered a choice of companies, the same token may be sent once more
 * with a `company_id`: this uses up the ticket of that choice. It is for people who do not know their address (Apple),
 * and still at most one session results.
 */

/** Uses up the token, in the transaction of the sign-in: of concurrent requests with one token one succeeds. */
export async function useIdentityToken(
  db: Db,
  { tokenHash, expiresAt }: Identity,
  { companyId, now }: { companyId: number | undefined; now: Date },
): Promise<void> {
  const used = await db
    .insertInto('used_identity_tokens')
    .values({ token_hash: tokenHash, expires_at: expiresAt })
    .onConflict((conflict) => conflict.column('token_hash').doNothing())
    .returning('token_hash')
    .executeTakeFirst();
  if (used || (companyId !== undefined && (await useTicketOf(db, tokenHash, now)))) return;
  throw INVALID_IDENTITY_TOKEN({ detail: 'This identity token has been used: get a new one from its provider.' });
}

async function useTicketOf(db: Db, tokenHash: string, now: Date): Promise<boolean> {
  const used = await db
    .updateTable('one_time_tokens as ticket')
    .from('used_identity_tokens as used')
    .set({ used_at: now })
    .whereRef('ticket.token_hash', '=', 'used.ticket_hash')
    .where('used.token_hash', '=', tokenHash)
    .where('ticket.used_at', 'is', null)
    .where('ticket.expires_at', '>', now)
    .returning('ticket.token_hash')
    .executeTakeFirst();
  return used !== undefined;
}

/** Stores the ticket that a token was answered with. */
export async function storeTicketOf(db: Db, { tokenHash }: Identity, ticket: string): Promise<void> {
  await db
    .updateTable('used_identity_tokens')
    .set({ ticket_hash: hashSecret(ticket) })
    .where('token_hash', '=', tokenHash)
    .execute();
}
