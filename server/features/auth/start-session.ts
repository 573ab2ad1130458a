import type { z } from 'zod';
import type { Db } from '../../../db/open.ts';
import { acrossCompanies, inCompany } from '../../../db/scope.ts';
import { SESSION_ENDED } from '../../errors/errors.ts';
import type { Context, MutationScope } from '../../kernel/context.ts';
import { sessionEnd } from '../../kernel/refresh-token-rules.ts';
import { noCompany, noteActor, noteChange } from '../../kernel/audit-log.ts';
import { logSecurity } from '../../kernel/security-log.ts';
import { accessLifetimeSeconds } from '../../platform/tokens.ts';
import { findEmployee, toEmployee } from '../employees/queries.ts';
import type { Membership } from '../memberships/account-memberships.ts';
import { lockApiKey, lockMembership } from '../memberships/lock-access.ts';
import { notifyFirstSignInByKey, recordDevice } from './devices.ts';
import type { SignedInResult, TokenPair } from './schemas.ts';

/** The method of authentication, stored with the session and shown in the list of sessions. */
export type SignInMethod =
  | 'password'
  | 'code'
  | 'google'
  | 'apple'
  | 'token'
  | 'registration'
  | 'invitation'
  | 'api key';

/**
 * The times that a new session inherits from the one it replaces: when its holder signed in, and when they last proved
 * the account's address (null after a password alone). Throws SESSION_ENDED if it was deleted since the caller was authenticated.
 */
export async function getSignIn(
  db: Db,
  sessionId: number,
): Promise<{ signedInAt: Date; addressProvedAt: Date | null }> {
  return acrossCompanies(db)
    .selectFrom('sessions')
    .where('session_id', '=', sessionId)
    .select(['signed_in_at as signedInAt', 'address_proved_at as addressProvedAt'])
    .executeTakeFirstOrThrow(() => SESSION_ENDED());
}

/** Ends a session that continues in another company; of two concurrent requests one is refused. */
async function endReplaced(db: Db, sessionId: number, now: Date): Promise<void> {
  await acrossCompanies(db)
    .updateTable('sessions')
    .set({ ended_at: now, ended_because: 'changed company' })
    .where('session_id', '=', sessionId)
    .where('ended_at', 'is', null)
    .returning('session_id')
    .executeTakeFirstOrThrow(() => SESSION_ENDED());
}

type SessionMembership = Omit<Membership, 'isAdmin'>;

/** The owner of a session: an account, or a company whose API key opened it, bound to an employee. */
export type SessionOwner =
  | {
      accountId: number;
      place: SessionMembership | null;
      addressProvedAt: Date | null;
      /** The session that ends, because its holder continues in this one. */
      replaces?: { sessionId: number; signedInAt: Date };
    }
  | { openedByKeyId: number; place: SessionMembership };

/**
 * Opens a session in a company, or in none, and returns its first token pair. Its account must be locked, or the employees that
 * a session of a key depends on.
 */
export async function startSession(
  ctx: Context & Pick<MutationScope, 'db' | 'afterCommit'>,
  { method, place, ...owner }: SessionOwner & { method: SignInMethod },
): Promise<z.input<typeof SignedInResult>> {
  const { request, services } = ctx;
  // A session without a company belongs to an account.
  const db = place ? inCompany(ctx.db, place.company_id) : acrossCompanies(ctx.db);
  const now = services.clock.now();
  // A session that replaces another one keeps its end and its device.
  const replaces = 'replaces' in owner ? owner.replaces : undefined;
  const signedInAt = replaces?.signedInAt ?? now;
  const expiresAt = sessionEnd(signedInAt, now);
  if ('openedByKeyId' in owner) {
    const { company_id: companyId, company_name: company, employee_id: employeeId } = place!;
    await lockApiKey(db, companyId, owner.openedByKeyId);
    await notifyFirstSignInByKey({ ...ctx, db }, { apiKeyId: owner.openedByKeyId, companyId, company, employeeId });
  } else {
    if (place)
      await lockMembership(db, owner.accountId, { companyId: place.company_id, employeeId: place.employee_id });
    if (replaces) await endReplaced(ctx.db, replaces.sessionId, now);
    await recordDevice(ctx, owner.accountId);
  }
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
  noteActor(db, { ...whose, sessionId, companyId: companyId ?? noCompany, employeeId: employeeId ?? null });
  const started = { event: 'session.started', kind: 'session', id: sessionId, before: null, after: { method } };
  noteChange(db, companyId ?? noCompany, started);
  ctx.afterCommit(() => logSecurity(ctx, 'signed in', { method, sessionId, ...whose, companyId, employeeId }));
  const pair = await issueTokenPair(services, { sessionId, generation: 1, rotatedAt: now, expiresAt });
  if (!place) return { ...pair, employee: null, company: null };
  const row = await findEmployee(db, place.company_id, place.employee_id);
  return {
    ...pair,
    employee: toEmployee(row!, { employeeId: place.employee_id, isAdmin: row!.is_admin }, services.settings),
    company: { company_id: place.company_id, company_name: place.company_name },
  };
}

/** The token pair of a session's generation; the refresh token is the same each time. */
export async function issueTokenPair(
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
