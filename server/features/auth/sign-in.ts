import { randomBytes } from 'node:crypto';
import type { z } from 'zod';
import type { Db } from '../../../db/open.ts';
import { hashSecret } from '../../kernel/authentication.ts';
import type { Context } from '../../kernel/context.ts';
import { notFoundIn } from '../../kernel/faults.ts';
import { accessLifetimeSeconds, refreshLifetimeMs } from '../../kernel/tokens.ts';
import { findEmployee, toEmployee } from '../employees/queries.ts';
import type { CompanyChoice, SignedInResult, TokenPair } from './schemas.ts';

const ticketLifetimeSeconds = 5 * 60;
export const loginTicketPrefix = 'wlt_';

/** How the person proved who they are; kept with the session and shown in the list of sessions. */
export type SignInMethod = 'password' | 'code' | 'google' | 'apple' | 'token' | 'registration';

type Place = { company_id: number; company_name: string; employee_id: number; isAdmin: boolean };

/** Where an account is an active employee. */
export async function listPlaces(db: Db, accountId: number): Promise<Place[]> {
  return db
    .selectFrom('employees as e')
    .innerJoin('companies as c', 'c.company_id', 'e.company_id')
    .where('e.account_id', '=', accountId)
    .where('e.is_active', '=', true)
    .where('e.is_deleted', '=', false)
    .select(['c.company_id', 'c.name as company_name', 'e.employee_id', 'e.is_admin as isAdmin'])
    .orderBy('c.company_id')
    .execute();
}

/** Signs a proven account in: to its one company, to the chosen one, to none, or answers the choice. */
export async function signIn(
  ctx: Context & { db: Db },
  { accountId, method, companyId }: { accountId: number; method: SignInMethod; companyId: number | undefined },
): Promise<z.input<typeof SignedInResult> | z.input<typeof CompanyChoice>> {
  const places = await listPlaces(ctx.db, accountId);
  if (companyId === undefined && places.length > 1) {
    return {
      companies: places.map(({ company_id, company_name, isAdmin }) => ({ company_id, company_name, isAdmin })),
      login_ticket: await insertLoginTicket(ctx, accountId),
      expires_in: ticketLifetimeSeconds,
    };
  }
  const place = companyId === undefined ? places[0] : places.find((one) => one.company_id === companyId);
  if (companyId !== undefined && !place) throw notFoundIn('company_id');
  return startSession(ctx, { accountId, method, place: place ?? null });
}

/** Opens a session in a company, or in none, and answers with its first token pair. */
export async function startSession(
  ctx: Context & { db: Db },
  { accountId, method, place }: { accountId: number; method: SignInMethod; place: Omit<Place, 'isAdmin'> | null },
): Promise<z.input<typeof SignedInResult>> {
  const { db, request, services } = ctx;
  const now = services.clock.now();
  const { session_id: sessionId } = await db
    .insertInto('sessions')
    .values({
      account_id: accountId,
      company_id: place?.company_id ?? null,
      employee_id: place?.employee_id ?? null,
      method,
      rotated_at: now,
      expires_at: new Date(now.getTime() + refreshLifetimeMs),
      user_agent: request.userAgent,
      network: request.network,
      created_at: now,
      last_used_at: now,
    })
    .returning('session_id')
    .executeTakeFirstOrThrow();
  const pair = await makePair(services, { sessionId, accountId, generation: 1, rotatedAt: now });
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
    accountId,
    generation,
    rotatedAt,
  }: { sessionId: number; accountId: number; generation: number; rotatedAt: Date },
): Promise<z.input<typeof TokenPair>> {
  return {
    access_token: await tokens.issueAccess({ sessionId, accountId, now: clock.now() }),
    refresh_token: await tokens.issueRefresh({ sessionId, accountId, generation, issuedAt: rotatedAt }),
    token_type: 'Bearer',
    expires_in: accessLifetimeSeconds,
  };
}

async function insertLoginTicket({ db, services }: Context & { db: Db }, accountId: number): Promise<string> {
  const now = services.clock.now();
  const ticket = `${loginTicketPrefix}${randomBytes(32).toString('base64url')}`;
  await db
    .insertInto('one_time_tokens')
    .values({
      token_hash: hashSecret(ticket),
      purpose: 'login_ticket',
      account_id: accountId,
      created_at: now,
      expires_at: new Date(now.getTime() + ticketLifetimeSeconds * 1000),
    })
    .execute();
  return ticket;
}
