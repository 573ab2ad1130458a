import { z } from 'zod';
import type { Db } from '../../../db/open.ts';
import { apiKeyPrefix, authenticate, hashSecret } from '../../kernel/authentication.ts';
import type { Context } from '../../kernel/context.ts';
import {
  ADMIN_REQUIRED,
  INVALID_TOKEN,
  invalid,
  notFoundIn,
  SCOPE_REQUIRED,
  SESSION_ENDED,
  TOKEN_PAIR_REQUIRED,
} from '../../kernel/faults.ts';
import { rest } from '../../kernel/operation.ts';
import { open } from '../../kernel/procedures.ts';
import { email, id } from '../../kernel/wire.ts';
import { getAccountById } from './accounts.ts';
import { PROOF_REQUIRED } from './faults.ts';
import { SignedInResult } from './schemas.ts';
import { listPlaces, loginTicketPrefix, startSession } from './sign-in.ts';

export const tokenLogin = open
  .meta(
    rest('POST /token-login/', {
      section: 'Login',
      summary: 'Sign in to a company without a password, with a proof',
      description:
        'For the choice of a company, deep links, SSO and redirects. Passwordless, never proofless: send as `Authorization: Bearer` one of a `login_ticket` of that e-mail; an access token (with its refresh token) whose account has that e-mail, to change company; or an API key of that company with the scope `login`. `company_name`, when sent, must be that company’s name; `isAdmin: true` asks that the employee be an admin.',
      faults: [PROOF_REQUIRED, INVALID_TOKEN, SESSION_ENDED, TOKEN_PAIR_REQUIRED, SCOPE_REQUIRED, ADMIN_REQUIRED],
      example: { email: 'ada@example.com', company_id: 7, isAdmin: false },
    }),
  )
  .input(
    z.object({ email, company_id: id, company_name: z.string().max(200).nullish(), isAdmin: z.boolean().nullish() }),
  )
  .output(SignedInResult)
  .mutation(async ({ ctx, input }) => {
    const accountId = await proveAccount(ctx, input);
    const place = (await listPlaces(ctx.db, accountId)).find((one) => one.company_id === input.company_id);
    if (!place) throw notFoundIn('company_id');
    if (input.company_name && input.company_name.trim() !== place.company_name) {
      throw invalid(['company_name'], 'is not the name of that company');
    }
    if (input.isAdmin === true && !place.isAdmin) throw ADMIN_REQUIRED();
    return startSession(ctx, { accountId, method: 'token', place });
  });

type Claim = { email: string; company_id: number };

/** The account that the caller's proof stands for: that of the address claimed, and no other. */
async function proveAccount(ctx: Context & { db: Db }, claim: Claim): Promise<number> {
  const { bearer } = ctx.request;
  if (bearer === undefined) throw PROOF_REQUIRED();
  if (bearer.startsWith(loginTicketPrefix)) return redeemTicket(ctx, bearer, claim);

  const caller = await authenticate(ctx);
  if (caller.credential.kind === 'session') {
    const account = await getAccountById(ctx.db, caller.accountId);
    if (account.email !== claim.email) throw PROOF_REQUIRED();
    return account.account_id;
  }
  if (!bearer.startsWith(apiKeyPrefix) || caller.membership?.companyId !== claim.company_id)
    throw notFoundIn('company_id');
  if (!caller.credential.scopes.includes('login')) throw SCOPE_REQUIRED();
  const employee = await ctx.db
    .selectFrom('employees')
    .where('company_id', '=', claim.company_id)
    .where('email', '=', claim.email)
    .where('is_active', '=', true)
    .select('account_id')
    .executeTakeFirst();
  if (!employee) throw notFoundIn('email');
  return employee.account_id;
}

/** Uses the ticket up, in the transaction that opens the session: of many redemptions at once one succeeds. */
async function redeemTicket(
  { db, services }: Context & { db: Db },
  ticket: string,
  { email: claimed }: Claim,
): Promise<number> {
  const now = services.clock.now();
  const used = await db
    .updateTable('one_time_tokens')
    .set({ used_at: now })
    .where('token_hash', '=', hashSecret(ticket))
    .where('purpose', '=', 'login_ticket')
    .where('used_at', 'is', null)
    .where('expires_at', '>', now)
    .returning('account_id')
    .executeTakeFirst();
  if (!used) throw PROOF_REQUIRED();
  const account = await getAccountById(db, used.account_id);
  if (account.email !== claimed) throw PROOF_REQUIRED();
  return account.account_id;
}
