import { randomBytes } from 'node:crypto';
import type { z } from 'zod';
import type { Db } from '../../../db/open.ts';
import { inCompany } from '../../../db/scope.ts';
import { notFoundIn } from '../../errors/errors.ts';
import { hashSecret } from '../../kernel/authentication.ts';
import { noCompany, noteActor } from '../../kernel/audit-log.ts';
import type { Context, MutationScope } from '../../kernel/context.ts';
import { employeeUpdated } from '../employees/events.ts';
import { joinCompany } from '../employees/join-company.ts';
import { apiKeyRevoked } from '../memberships/events.ts';
import { listMemberships, type Membership } from '../memberships/account-memberships.ts';
import { lockAccount } from '../memberships/lock-access.ts';
import { listOpenInvitations } from '../memberships/open-invitations.ts';
import type { CompanyChoice, SignedInResult } from './schemas.ts';
import { startSession, type SignInMethod } from './start-session.ts';

/** What a sign-in that proves an address may change: it accepts an invitation, or takes an account over. */
export const signInChanges = [employeeUpdated, apiKeyRevoked];

const ticketLifetimeSeconds = 5 * 60;
export const loginTicketPrefix = 'wlt_';

/** The account that signs in. `provedAddress` is the address that this sign-in proved; a password, which was compared, proves none. */
export type VerifiedIdentity =
  | { accountId: number; provedAddress: string | null; passwordHash?: undefined }
  | { accountId: number; provedAddress: null; passwordHash: string };

/**
 * Signs an account in to its one company, to the chosen one, or to none, or answers the choice. If the sign-in proves
 * the address, it accepts an invitation: the chosen company's, or the only one of an account without a company.
 */
export async function signIn(
  ctx: Context & Pick<MutationScope, 'db' | 'afterCommit'>,
  { accountId, provedAddress, passwordHash }: VerifiedIdentity,
  { method, companyId }: { method: SignInMethod; companyId: number | undefined },
): Promise<z.input<typeof SignedInResult> | z.input<typeof CompanyChoice>> {
  const { db, services } = ctx;
  const now = services.clock.now();
  const addressProvedAt = provedAddress === null ? null : now;
  await lockAccount(db, accountId, passwordHash ?? null);
  const places = await listMemberships(db, accountId, now);
  if (companyId === undefined && places.length > 1) {
    // The session that follows is audited in its company, and the others do not learn of it.
    noteActor(db, { accountId, companyId: noCompany });
    return {
      companies: places.map(({ company_id, company_name, isAdmin }) => ({ company_id, company_name, isAdmin })),
      login_ticket: await insertLoginTicket(ctx, accountId, addressProvedAt),
      expires_in: ticketLifetimeSeconds,
    };
  }
  const place =
    (companyId === undefined ? places[0] : places.find((one) => one.company_id === companyId)) ??
    (provedAddress === null ? undefined : await acceptOne(ctx, { accountId, email: provedAddress, companyId, now }));
  if (companyId !== undefined && !place) throw notFoundIn('company_id');
  return startSession(ctx, { accountId, method, place: place ?? null, addressProvedAt });
}

/** Accepts the invitation of the given company, or the only one; returns the resulting membership. */
async function acceptOne(
  { db, services }: Context & Pick<MutationScope, 'db'>,
  { accountId, email, companyId, now }: { accountId: number; email: string; companyId: number | undefined; now: Date },
): Promise<Membership | undefined> {
  const open = await listOpenInvitations(db, email);
  const chosen = companyId === undefined ? open : open.filter((one) => one.company_id === companyId);
  const [invitation] = chosen;
  if (!invitation || chosen.length > 1) return undefined;
  const employee = { companyId: invitation.company_id, employeeId: invitation.employee_id };
  const company = inCompany(db, employee.companyId);
  const hasJoined = await joinCompany(company, { ...employee, accountId, now }, services.settings);
  return hasJoined ? invitation : undefined;
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
