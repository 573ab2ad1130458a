import { createHash } from 'node:crypto';
import type { Caller, Context, Services } from './context.ts';
import type { Credential } from '../platform/credential.ts';
import type { CredentialRow, Credentials, SessionRow } from './credentials.ts';
import type { ApiError } from '../errors/api-error.ts';
import { INVALID_TOKEN, SESSION_ENDED, TOKEN_PAIR_REQUIRED, UNAUTHENTICATED } from '../errors/errors.ts';
import { checkRefreshToken } from './refresh-token-rules.ts';
import { Concerning } from './security-log.ts';
import type { RefreshClaims, TokenClaims } from '../platform/tokens.ts';

export const apiKeyPrefix = 'wms_';
/** Access tokens of OAuth clients. Each is the key of a row of `api_keys`, for a quarter of an hour. */
export const clientTokenPrefix = 'wmso_';

/** Secrets of 256 bits need no salt: they cannot be guessed. */
export const hashSecret = (secret: string): string => createHash('sha256').update(secret).digest('base64url');

/**
 * Authenticates the caller by the API key or the token pair of the request. If the access token has expired and the
 * refresh token is valid, the request is served and its answer carries a fresh access token. If the caller is about to
 * get a new session (`isForSession`), the refresh token must be valid whatever the access token is.
 *
 * The same request may be authenticated again, for a further call of its WebSocket or after its body. Nothing is issued
 * then, so its refresh token may have been rotated since; whether the session is live is read each time.
 */
export async function authenticate(
  { services, request }: Context,
  { isForSession = false }: { isForSession?: boolean } = {},
): Promise<Caller> {
  const { tokens, clock, credentials } = services;
  if (request.bearer === undefined)
    throw request.refreshToken === undefined ? unauthenticated(request) : TOKEN_PAIR_REQUIRED();
  const now = clock.now();
  const isClientToken = request.bearer.startsWith(clientTokenPrefix);
  if (isClientToken && request.transport !== 'mcp')
    throw INVALID_TOKEN({ detail: 'The access token of an OAuth client is for /mcp alone.' });
  if (isClientToken || request.bearer.startsWith(apiKeyPrefix)) {
    const holder = await loadApiKey(services, request.bearer);
    request.noteAuthenticated();
    return holder;
  }
  // A cached token is verified synchronously, without a promise.
  const verifying = tokens.verifyAccess(request.bearer);
  const access = verifying instanceof Promise ? await verifying : verifying;
  const refreshing = request.refreshToken === undefined ? undefined : tokens.verifyRefresh(request.refreshToken);
  const refresh = refreshing instanceof Promise ? await refreshing : refreshing;
  const wasAuthenticated = request.wasAuthenticated === true;
  checkSameSession(services, refresh, access, wasAuthenticated ? undefined : now);

  const isExpired = access.expiresAt <= now;
  if (isExpired && !refresh) throw INVALID_TOKEN({ detail: 'The access token has expired.' });
  const caller = toSession(access.sessionId, await credentials.findSession(access.sessionId), credentials);
  const isToRenew = isExpired && !wasAuthenticated;
  // The pair of a WebSocket is that of its opening: one that was replaced since opens no session, and is no sign of theft.
  const endsSession = !(wasAuthenticated && request.connection);
  if (refresh && (isToRenew || isForSession)) await checkRefreshToken(services, refresh, { endsSession });
  if (isToRenew && !isForSession) request.setHeader('X-Access-Token', await tokens.issueAccess({ ...access, now }));
  request.wasAuthenticated = true;
  request.noteAuthenticated();
  return caller;
}

function unauthenticated({ transport }: Context['request']): ApiError {
  if (transport !== 'mcp') return UNAUTHENTICATED();
  return UNAUTHENTICATED({
    detail:
      'Send an API key or the access token of an OAuth client as `Authorization: Bearer`. `WWW-Authenticate` names the document that says where to get one.',
  });
}

function checkSameSession(
  { settings }: Services,
  refresh: RefreshClaims | undefined,
  access: TokenClaims,
  /** Undefined where the refresh token has not expired when it came. */
  now: Date | undefined,
): void {
  if (!refresh) {
    if (settings.requireTokenPair) throw TOKEN_PAIR_REQUIRED();
    return;
  }
  if (refresh.sessionId !== access.sessionId) throw TOKEN_PAIR_REQUIRED();
  // Another tab may have rotated it: its generation matters only when a new token is issued.
  if (now && refresh.expiresAt <= now) throw INVALID_TOKEN({ detail: 'The refresh token has expired: sign in again.' });
}

function toSession(sessionId: number, row: SessionRow | undefined, credentials: Credentials): Caller {
  if (!row?.isLive) throw SESSION_ENDED({ cause: new Concerning({ sessionId }) });
  const { accountId } = row;
  const credential: Credential =
    accountId === null ? { kind: 'boundSession', sessionId } : { kind: 'session', sessionId, accountId };
  return toCaller(credential, row, credentials);
}

async function loadApiKey({ credentials }: Services, key: string): Promise<Caller> {
  const row = await credentials.findApiKey(hashSecret(key));
  if (!row?.isLive) throw INVALID_TOKEN({ cause: new Concerning({ apiKeyId: row?.id }) });
  return toCaller({ kind: 'apiKey', apiKeyId: row.id, scopes: row.scopes }, row, credentials);
}

function toCaller(credential: Credential, row: CredentialRow, credentials: Credentials): Caller {
  credentials.noteUse(credential, row);
  const { companyId, employeeId, isAdmin, isTeamLeader, isClosed } = row;
  if (employeeId === null) return { credential, membership: null };
  const membership = { companyId: companyId!, employeeId, isAdmin: isAdmin!, isTeamLeader: isTeamLeader!, isClosed };
  return { credential, membership };
}
