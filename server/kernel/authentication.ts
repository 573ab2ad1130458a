import type { Context, Services, SignedIn } from './context.ts';
import { INVALID_TOKEN, SESSION_ENDED, TOKEN_PAIR_REQUIRED, UNAUTHENTICATED } from './faults.ts';
import type { RefreshClaims, TokenClaims } from './tokens.ts';

/** Marking a session as used more often than this would make a write of every read. */
const lastUsedGrainMs = 60_000;

/**
 * Finds out who is calling, from the token pair of the request. Where the access token has expired and the
 * refresh token is good, the request is served and its answer carries a fresh access token.
 */
export async function authenticate({ services, request }: Context): Promise<SignedIn> {
  const { tokens, clock } = services;
  if (request.bearer === undefined)
    throw request.refreshToken === undefined ? UNAUTHENTICATED() : TOKEN_PAIR_REQUIRED();
  const now = clock.now();
  const access = await tokens.verifyAccess(request.bearer);
  const refresh = await refreshOfSameSession(services, request.refreshToken, access, now);

  const isExpired = access.expiresAt <= now;
  if (isExpired && !refresh) throw INVALID_TOKEN({ detail: 'The access token has expired.' });
  const caller = await loadSession(services, access, now);
  if (isExpired) request.setHeader('X-Access-Token', await tokens.issueAccess({ ...access, now }));
  return caller;
}

async function refreshOfSameSession(
  { tokens, settings }: Services,
  token: string | undefined,
  access: TokenClaims,
  now: Date,
): Promise<RefreshClaims | undefined> {
  if (token === undefined) {
    if (settings.requireTokenPair) throw TOKEN_PAIR_REQUIRED();
    return undefined;
  }
  const refresh = await tokens.verifyRefresh(token);
  if (refresh.sessionId !== access.sessionId || refresh.accountId !== access.accountId) throw TOKEN_PAIR_REQUIRED();
  // Another tab may have rotated it meanwhile, so its generation does not matter here.
  if (refresh.expiresAt <= now) throw INVALID_TOKEN({ detail: 'The refresh token has expired: sign in again.' });
  return refresh;
}

async function loadSession(services: Services, claims: TokenClaims, now: Date): Promise<SignedIn> {
  const { database, background } = services;
  const row = await database.db
    .selectFrom('sessions as s')
    .innerJoin('accounts as a', 'a.account_id', 's.account_id')
    .leftJoin('employees as e', (join) =>
      join.onRef('e.company_id', '=', 's.company_id').onRef('e.employee_id', '=', 's.employee_id'),
    )
    .leftJoin('companies as c', 'c.company_id', 'e.company_id')
    .where('s.session_id', '=', claims.sessionId)
    .where('s.account_id', '=', claims.accountId)
    .select(['s.ended_at', 's.expires_at', 's.last_used_at', 's.employee_id', 's.company_id', 'a.email', 'c.timezone'])
    .select(['e.name', 'e.is_admin', 'e.is_team_leader', 'e.is_active', 'e.is_deleted'])
    .executeTakeFirst();

  if (!row || row.ended_at || row.expires_at <= now) throw SESSION_ENDED();
  if (row.employee_id !== null && (!row.is_active || row.is_deleted)) throw SESSION_ENDED();
  if (now.getTime() - row.last_used_at.getTime() > lastUsedGrainMs) {
    background.run('session-used', async () => {
      await database.db
        .updateTable('sessions')
        .set({ last_used_at: now })
        .where('session_id', '=', claims.sessionId)
        .execute();
    });
  }
  return {
    accountId: claims.accountId,
    sessionId: claims.sessionId,
    email: row.email,
    membership:
      row.employee_id === null
        ? null
        : {
            companyId: row.company_id!,
            employeeId: row.employee_id,
            name: row.name!,
            isAdmin: row.is_admin!,
            isTeamLeader: row.is_team_leader!,
            timezone: row.timezone!,
          },
  };
}
