import { createHash } from 'node:crypto';
import type { Context, Credential, Services, SignedIn } from './context.ts';
import type { CredentialRow, Credentials } from './credentials.ts';
import { INVALID_TOKEN, SESSION_ENDED, TOKEN_PAIR_REQUIRED, UNAUTHENTICATED } from './faults.ts';
import type { RefreshClaims, TokenClaims } from './tokens.ts';

export const apiKeyPrefix = 'wms_';

/** Secrets of 256 bits need no salt: nobody can try them all. */
export const hashSecret = (secret: string): string => createHash('sha256').update(secret).digest('base64url');

/**
 * Finds out who is calling, from the API key or the token pair of the request. Where the access token has expired
 * and the refresh token is good, the request is served and its answer carries a fresh access token.
 */
export async function authenticate({ services, request }: Context): Promise<SignedIn> {
  const { tokens, clock, credentials } = services;
  if (request.bearer === undefined)
    throw request.refreshToken === undefined ? UNAUTHENTICATED() : TOKEN_PAIR_REQUIRED();
  const now = clock.now();
  if (request.bearer.startsWith(apiKeyPrefix)) return loadApiKey(services, request.bearer);
  // What is known already is there at once: then nothing is waited for.
  const verifying = tokens.verifyAccess(request.bearer);
  const access = verifying instanceof Promise ? await verifying : verifying;
  const refreshing = request.refreshToken === undefined ? undefined : tokens.verifyRefresh(request.refreshToken);
  const refresh = refreshing instanceof Promise ? await refreshing : refreshing;
  checkSameSession(services, refresh, access, now);

  const isExpired = access.expiresAt <= now;
  if (isExpired && !refresh) throw INVALID_TOKEN({ detail: 'The access token has expired.' });
  const caller = toSession(await credentials.findSession(access.sessionId), access, credentials);
  if (isExpired) request.setHeader('X-Access-Token', await tokens.issueAccess({ ...access, now }));
  return caller;
}

function checkSameSession(
  { settings }: Services,
  refresh: RefreshClaims | undefined,
  access: TokenClaims,
  now: Date,
): void {
  if (!refresh) {
    if (settings.requireTokenPair) throw TOKEN_PAIR_REQUIRED();
    return;
  }
  if (refresh.sessionId !== access.sessionId || refresh.accountId !== access.accountId) throw TOKEN_PAIR_REQUIRED();
  // Another tab may have rotated it meanwhile, so its generation does not matter here.
  if (refresh.expiresAt <= now) throw INVALID_TOKEN({ detail: 'The refresh token has expired: sign in again.' });
}

function toSession(row: CredentialRow | undefined, claims: TokenClaims, credentials: Credentials): SignedIn {
  if (!row?.isLive || row.accountId !== claims.accountId) throw SESSION_ENDED();
  return toCaller({ kind: 'session', sessionId: row.id }, row, credentials);
}

async function loadApiKey({ credentials }: Services, key: string): Promise<SignedIn> {
  const row = await credentials.findApiKey(hashSecret(key));
  if (!row?.isLive) throw INVALID_TOKEN();
  return toCaller({ kind: 'apiKey', apiKeyId: row.id, scopes: row.scopes }, row, credentials);
}

function toCaller(credential: Credential, row: CredentialRow, credentials: Credentials): SignedIn {
  credentials.noteUse(credential, row);
  const { accountId, companyId, employeeId, isAdmin, isTeamLeader } = row;
  if (employeeId === null) return { accountId, credential, membership: null };
  const membership = { companyId: companyId!, employeeId, isAdmin: isAdmin!, isTeamLeader: isTeamLeader! };
  return { accountId, credential, membership };
}
