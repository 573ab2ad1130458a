import { z } from 'zod';
import type { Db } from '../../../db/open.ts';
import { inCompany } from '../../../db/scope.ts';
import { authenticate, hashSecret } from '../../kernel/authentication.ts';
import type { Caller, Context } from '../../kernel/context.ts';
import {
  ADMIN_REQUIRED,
  INVALID_TOKEN,
  invalid,
  notFoundIn,
  SCOPE_REQUIRED,
  SESSION_BOUND,
  SESSION_ENDED,
  TOKEN_PAIR_REQUIRED,
} from '../../errors/errors.ts';
import { scopeMissing } from '../../kernel/missing-scope.ts';
import { rest } from '../../kernel/operation.ts';
import { accountOf, open } from '../../kernel/procedures.ts';
import { email, idOf } from '../../kernel/wire/fields.ts';
import { listMemberships, type Membership } from '../memberships/account-memberships.ts';
import { lockAccount, lockSignInByKey } from '../memberships/lock-access.ts';
import { getAccountById } from './accounts.ts';
import { PROOF_REQUIRED } from './errors.ts';
import { SignedInResult } from './schemas.ts';
import { loginTicketPrefix } from './sign-in.ts';
import { getSignIn, startSession, type SessionOwner, type SignInMethod } from './start-session.ts';

export const tokenLogin = open
  .meta(
    rest('POST /token-login/', {
      section: 'Login',
      summary: 'Sign in to a company without a password, with another credential',
      description:
        'For the choice of a company, deep links, SSO and redirects. Instead of a password it needs a credential as `Authorization: Bearer`: a `login_ticket` of that e-mail; an access token (with its refresh token) whose account has that e-mail, to change company (its session ends); or an API key of that company with the scope `login`, whose creator is an admin. A session that a key opens is bound: it acts as that employee in that company and reaches no account, so it cannot change company, see other sessions, make keys, change a password or address, or accept an invitation (`SESSION_BOUND`); the employee is told by mail the first time each key signs them in. `company_name`, when sent, must be that company’s name; `isAdmin: true` asks that the employee be an admin.',
      errors: [
        PROOF_REQUIRED,
        INVALID_TOKEN,
        SESSION_ENDED,
        TOKEN_PAIR_REQUIRED,
        SESSION_BOUND,
        SCOPE_REQUIRED,
        ADMIN_REQUIRED,
      ],
      bodyCredentials: ['loginTicket', 'pair', 'apiKey'],
      example: { email: 'ada@example.com', company_id: 7, isAdmin: false },
    }),
  )
  .input(
    z.object({
      email,
      company_id: idOf('company'),
      company_name: z.string().max(200).nullish(),
      isAdmin: z.boolean().nullish(),
    }),
  )
  .output(SignedInResult)
  .mutation(async ({ ctx, input }) => {
    const owner = await verifyCredentials(ctx, input);
    const { place } = owner;
    if (input.company_name && input.company_name.trim() !== place.company_name) {
      throw invalid(['company_name'], 'is not the name of that company', 'mismatch');
    }
    if (input.isAdmin === true && !place.isAdmin) throw ADMIN_REQUIRED();
    return startSession(ctx, owner);
  });

type AccountSession = Extract<SessionOwner, { accountId: number }>;
type Requested = { email: string; company_id: number };
type Opened = SessionOwner & { method: SignInMethod; place: Membership };

/**
 * Verifies the caller's credential and returns the session that it opens: for the requested address in the requested
 * company only.
 */
async function verifyCredentials(ctx: Context & { db: Db }, requested: Requested): Promise<Opened> {
  const { bearer } = ctx.request;
  if (bearer === undefined) throw PROOF_REQUIRED();
  if (bearer.startsWith(loginTicketPrefix)) {
    const ticket = await redeemTicket(ctx, bearer);
    return openAccountSession(ctx, ticket, requested);
  }
  const caller = await authenticate(ctx, { isForSession: true });
  if (caller.credential.kind === 'apiKey')
    return openBoundSession(inCompany(ctx.db, requested.company_id), caller, requested);
  const { accountId, sessionId } = accountOf(caller);
  const { signedInAt, addressProvedAt } = await getSignIn(ctx.db, sessionId);
  const replaces = { sessionId, signedInAt };
  return openAccountSession(ctx, { accountId, addressProvedAt, replaces }, requested);
}

/** Opens a session of the account. */
async function openAccountSession(
  { db, services }: Context & { db: Db },
  { accountId, ...signIn }: Pick<AccountSession, 'accountId' | 'addressProvedAt' | 'replaces'>,
  requested: Requested,
): Promise<Opened> {
  await lockAccount(db, accountId, null);
  const account = await getAccountById(db, accountId);
  if (account.email !== requested.email) throw PROOF_REQUIRED();
  const places = await listMemberships(db, accountId, services.clock.now());
  const place = places.find((one) => one.company_id === requested.company_id);
  if (!place) throw notFoundIn('company_id');
  return { accountId, ...signIn, place, method: 'token' };
}

/** Opens a session bound to an employee of the key's company, without access to an account. */
async function openBoundSession(db: Db, { credential, membership }: Caller, requested: Requested): Promise<Opened> {
  if (credential.kind !== 'apiKey' || membership?.companyId !== requested.company_id) throw notFoundIn('company_id');
  if (!credential.scopes.includes('login')) throw scopeMissing([['login']], credential.scopes);
  if (!membership.isAdmin) throw ADMIN_REQUIRED({ detail: 'A key signs others in only while its maker is an admin.' });
  const { companyId, employeeId: makerId } = membership;
  const place = await lockSignInByKey(db, { companyId, makerId, email: requested.email });
  if (!place) throw notFoundIn('email');
  return { openedByKeyId: credential.apiKeyId, place, method: 'api key' };
}

/** Uses up the ticket, in the transaction that opens the session: of concurrent redemptions one succeeds. */
async function redeemTicket(
  { db, services }: Context & { db: Db },
  ticket: string,
): Promise<{ accountId: number; addressProvedAt: Date | null }> {
  const now = services.clock.now();
  return db
    .updateTable('one_time_tokens')
    .set({ used_at: now })
    .where('token_hash', '=', hashSecret(ticket))
    .where('purpose', '=', 'login_ticket')
    .where('used_at', 'is', null)
    .where('expires_at', '>', now)
    .returning(['account_id as accountId', 'address_proved_at as addressProvedAt'])
    .executeTakeFirstOrThrow(() => PROOF_REQUIRED());
}
