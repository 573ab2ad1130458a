import { randomBytes } from 'node:crypto';
import type { z } from 'zod';
import type { Db } from '../../../db/open.ts';
import { acrossCompanies, inCompany } from '../../../db/scope.ts';
import { hashSecret } from '../../kernel/authentication.ts';
import type { Context, MutationScope } from '../../kernel/context.ts';
import { notFoundIn, SESSION_ENDED } from '../../kernel/faults.ts';
import { sessionEnd } from '../../kernel/refresh-rules.ts';
import { logSecurity } from '../../kernel/security-log.ts';
import { accessLifetimeSeconds } from '../../kernel/tokens.ts';
import { findEmployee, toEmployee } from '../employees/queries.ts';
import { acceptInvitation } from '../memberships/membership.ts';
import { listOpenInvitations, listPlaces, type Place } from '../memberships/places.ts';
import { noteDevice, tellOfFirstSignInByKey } from './note-sign-in.ts';
import type { CompanyChoice, SignedInResult, TokenPair } from './schemas.ts';

const ticketLifetimeSeconds = 5 * 60;
export const loginTicketPrefix = 'wlt_';

/** How the person proved who they are; kept with the session and shown in the list of sessions. */
export type SignInMethod =
  | 'password'
  | 'code'
  | 'google'
  | 'apple'
  | 'token'
  | 'registration'
  | 'invitation'
  | 'api key';

/** Whose account signs in. `provedAddress` is the address that this very sign-in proved; a password proves none. */
export type Proven = { accountId: number; provedAddress: string | null };

/**
 * Signs an account in: to its one company, to the chosen one, to none, or answers the choice. Where the sign-in proves
 * the address, it accepts an invitation: the chosen company's, or the only one of an account that has no company.
 */
export async function signIn(
  ctx: Context & Pick<MutationScope, 'db' | 'afterCommit'>,
  { accountId, provedAddress }: Proven,
  { method, companyId }: { method: SignInMethod; companyId: number | undefined },
): Promise<z.input<typeof SignedInResult> | z.input<typeof CompanyChoice>> {
  const { db, services } = ctx;
  const now = services.clock.now();
  const addressProvedAt = provedAddress === null ? null : now;
  const places = await listPlaces(db, accountId);
  if (companyId === undefined && places.length > 1) {
    return {
      companies: places.map(({ company_id, company_name, isAdmin }) => ({ company_id, company_name, isAdmin })),
      login_ticket: await insertLoginTicket(ctx, accountId, addressProvedAt),
      expires_in: ticketLifetimeSeconds,
    };
  }
  const place =
    (companyId === undefined ? places[0] : places.find((one) => one.company_id === companyId)) ??
    (provedAddress === null ? undefined : await acceptOne(db, { accountId, email: provedAddress, companyId, now }));
  if (companyId !== undefined && !place) throw notFoundIn('company_id');
  return startSession(ctx, { accountId, method, place: place ?? null, addressProvedAt });
}

/** Accepts the invitation of the named company, or the only one; answers the place that it gives. */
async function acceptOne(
  db: Db,
  { accountId, email, companyId, now }: { accountId: number; email: string; companyId: number | undefined; now: Date },
): Promise<Place | undefined> {
  const open = await listOpenInvitations(db, email);
  const chosen = companyId === undefined ? open : open.filter((one) => one.company_id === companyId);
  const [invitation] = chosen;
  if (!invitation || chosen.length > 1) return undefined;
  const employee = { companyId: invitation.company_id, employeeId: invitation.employee_id };
  return (await acceptInvitation(inCompany(db, employee.companyId), { ...employee, accountId, now }))
    ? invitation
    : undefined;
}

/**
 * What a session hands on to one that comes of it: when its holder signed in, and when they last proved the address of
 * its account (null where they gave a password alone).
 */
export async function getSignIn(
  db: Db,
  sessionId: number,
): Promise<{ signedInAt: Date; addressProvedAt: Date | null }> {
  return acrossCompanies(db)
    .selectFrom('sessions')
    .where('session_id', '=', sessionId)
    .select(['signed_in_at as signedInAt', 'address_proved_at as addressProvedAt'])
    .executeTakeFirstOrThrow();
}

/** Ends a session that goes on in another company; of two requests at once one is refused. */
export async function endSession(db: Db, sessionId: number, because: string, now: Date): Promise<void> {
  const ended = await acrossCompanies(db)
    .updateTable('sessions')
    .set({ ended_at: now, ended_because: because })
    .where('session_id', '=', sessionId)
    .where('ended_at', 'is', null)
    .returning('session_id')
    .executeTakeFirst();
  if (!ended) throw SESSION_ENDED();
}

type SessionPlace = Omit<Place, 'isAdmin'>;

/** Whose session it is: an account's, or, opened by an API key, a company's, bound to its employee. */
export type SessionOwner =
  | { accountId: number; place: SessionPlace | null; addressProvedAt: Date | null; signedInAt?: Date }
  | { openedByKeyId: number; place: SessionPlace };

/** Opens a session in a company, or in none, and answers with its first token pair. */
export async function startSession(
  ctx: Context & Pick<MutationScope, 'db' | 'afterCommit'>,
  { method, place, ...owner }: SessionOwner & { method: SignInMethod },
): Promise<z.input<typeof SignedInResult>> {
  const { request, services } = ctx;
  // A session in no company is an account's alone.
  const db = place ? inCompany(ctx.db, place.company_id) : acrossCompanies(ctx.db);
  const now = services.clock.now();
  // A session that comes of another one ends when that would have to, and is on the same device.
  const signedInAt = ('signedInAt' in owner && owner.signedInAt) || now;
  const expiresAt = sessionEnd(signedInAt, now);
  if ('openedByKeyId' in owner) {
    const { company_id: companyId, company_name: company, employee_id: employeeId } = place!;
    await tellOfFirstSignInByKey({ ...ctx, db }, { apiKeyId: owner.openedByKeyId, companyId, company, employeeId });
  } else await noteDevice(ctx, owner.accountId);
  const { session_id: sessionId } = await db
    .insertInto('sessions')
    .values({
      account_id: 'accountId' in owner ? owner.accountId : null,
      opened_by_key_id: 'openedByKeyId' in owner ? owner.openedByKeyId : null,
      address_proved_at: 'addressProvedAt' in owner ? owner.addressProvedAt : null,
      company_id: place?.company_id ?? null,
      employee_id: place?.employee_id ?? null,
      method,
      rotated_at: now,
      signed_in_at: signedInAt,
      expires_at: expiresAt,
      user_agent: request.userAgent,
      network: request.network,
      created_at: now,
      last_used_at: now,
    })
    .returning('session_id')
    .executeTakeFirstOrThrow();
  const { company_id: companyId, employee_id: employeeId } = place ?? {};
  const whose = 'accountId' in owner ? { accountId: owner.accountId } : { apiKeyId: owner.openedByKeyId };
  ctx.afterCommit(() => logSecurity(ctx, 'signed in', { method, sessionId, ...whose, companyId, employeeId }));
  const pair = await makePair(services, { sessionId, generation: 1, rotatedAt: now, expiresAt });
  if (!place) return { ...pair, employee: null, company: null };
  const row = await findEmployee(db, place.company_id, place.employee_id);
  return {
    ...pair,
    employee: toEmployee(row!, { employeeId: place.employee_id, isAdmin: row!.is_admin }, services.settings),
    company: { company_id: place.company_id, company_name: place.company_name },
  };
}

/** The pair of a session's generation; the refresh token is the same however often it is made. */
export async function makePair(
  { tokens, clock }: Context['services'],
  {
    sessionId,
    generation,
    rotatedAt,
    expiresAt,
  }: { sessionId: number; generation: number; rotatedAt: Date; expiresAt: Date },
): Promise<z.input<typeof TokenPair>> {
  return {
    access_token: await tokens.issueAccess({ sessionId, now: clock.now() }),
    refresh_token: await tokens.issueRefresh({ sessionId, generation, issuedAt: rotatedAt, expiresAt }),
    token_type: 'Bearer',
    expires_in: accessLifetimeSeconds,
  };
}

async function insertLoginTicket(
  { db, services }: Context & { db: Db },
  accountId: number,
  addressProvedAt: Date | null,
): Promise<string> {
  const now = services.clock.now();
  const ticket = `${loginTicketPrefix}${randomBytes(32).toString('base64url')}`;
  await db
    .insertInto('one_time_tokens')
    .values({
      token_hash: hashSecret(ticket),
      purpose: 'login_ticket',
      account_id: accountId,
      address_proved_at: addressProvedAt,
      created_at: now,
      expires_at: new Date(now.getTime() + ticketLifetimeSeconds * 1000),
    })
    .execute();
  return ticket;
}
