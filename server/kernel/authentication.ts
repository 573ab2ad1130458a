import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { Db } from '../../db/open.ts';
import type { Context, Credential, Scope, Services, SignedIn } from './context.ts';
import { INVALID_TOKEN, SESSION_ENDED, TOKEN_PAIR_REQUIRED, UNAUTHENTICATED } from './faults.ts';
import type { RefreshClaims, TokenClaims } from './tokens.ts';

/** Marking a session or key as used more often than this would make a write of every read. */
const lastUsedGrainMs = 60_000;

export const apiKeyPrefix = 'wms_';

/** Secrets of 256 bits need no salt: nobody can try them all. */
export const hashSecret = (secret: string): string => createHash('sha256').update(secret).digest('base64url');

/**
 * Finds out who is calling, from the API key or the token pair of the request. Where the access token has expired
 * and the refresh token is good, the request is served and its answer carries a fresh access token.
 */
export async function authenticate({ services, request }: Context): Promise<SignedIn> {
  const { tokens, clock } = services;
  if (request.bearer === undefined)
    throw request.refreshToken === undefined ? UNAUTHENTICATED() : TOKEN_PAIR_REQUIRED();
  const now = clock.now();
  if (request.bearer.startsWith(apiKeyPrefix)) return loadApiKey(services, request.bearer, now);
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
    email: row.email,
    credential: { kind: 'session', sessionId: claims.sessionId },
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

async function loadApiKey({ database, background }: Services, key: string, now: Date): Promise<SignedIn> {
  const row = await database.db
    .selectFrom('api_keys as k')
    .innerJoin('employees as e', (join) =>
      join.onRef('e.company_id', '=', 'k.company_id').onRef('e.employee_id', '=', 'k.employee_id'),
    )
    .innerJoin('companies as c', 'c.company_id', 'k.company_id')
    .where('k.key_hash', '=', hashSecret(key))
    .where('k.revoked_at', 'is', null)
    .where((eb) => eb.or([eb('k.expires_at', 'is', null), eb('k.expires_at', '>', now)]))
    .where('e.is_active', '=', true)
    .where('e.is_deleted', '=', false)
    .select(['k.company_id', 'k.api_key_id', 'k.scopes', 'k.last_used_at', 'k.employee_id', 'c.timezone'])
    .select(['e.account_id', 'e.email', 'e.name', 'e.is_admin', 'e.is_team_leader'])
    .executeTakeFirst();
  if (!row) throw INVALID_TOKEN();
  const { company_id: companyId, api_key_id: apiKeyId } = row;
  if (row.last_used_at === null || now.getTime() - row.last_used_at.getTime() > lastUsedGrainMs) {
    background.run('key-used', async () => {
      await database.db
        .updateTable('api_keys')
        .set({ last_used_at: now })
        .where('company_id', '=', companyId)
        .where('api_key_id', '=', apiKeyId)
        .execute();
    });
  }
  return {
    accountId: row.account_id,
    email: row.email,
    credential: { kind: 'apiKey', apiKeyId, scopes: row.scopes as Scope[] },
    membership: {
      companyId,
      employeeId: row.employee_id,
      name: row.name,
      isAdmin: row.is_admin,
      isTeamLeader: row.is_team_leader,
      timezone: row.timezone,
    },
  };
}

/** Tells which of the given credentials still hold, in one statement for all of them. */
export async function listLiveCredentials(
  db: Db,
  credentials: Credential[],
  now: Date,
): Promise<(credential: Credential) => boolean> {
  const sessionIds = credentials.flatMap((one) => (one.kind === 'session' ? one.sessionId : []));
  const apiKeyIds = credentials.flatMap((one) => (one.kind === 'apiKey' ? one.apiKeyId : []));
  const { rows } = await sql<{ kind: Credential['kind']; id: number }>`
    select 'session' as kind, s.session_id as id from sessions s
    left join employees e on e.company_id = s.company_id and e.employee_id = s.employee_id
    where s.session_id = any(${sessionIds}::bigint[]) and s.ended_at is null and s.expires_at > ${now}
      and (s.employee_id is null or (e.is_active and not e.is_deleted))
    union all
    select 'apiKey', k.api_key_id from api_keys k
    join employees e on e.company_id = k.company_id and e.employee_id = k.employee_id
    where k.api_key_id = any(${apiKeyIds}::bigint[]) and k.revoked_at is null
      and (k.expires_at is null or k.expires_at > ${now}) and e.is_active and not e.is_deleted`.execute(db);
  const live = new Set(rows.map(({ kind, id }) => `${kind} ${id}`));
  return (one) => live.has(`${one.kind} ${one.kind === 'session' ? one.sessionId : one.apiKeyId}`);
}
