import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { Db } from '../../../db/open.ts';
import { hashSecret } from '../../kernel/authentication.ts';
import type { Context } from '../../kernel/context.ts';
import { logSecurity } from '../../kernel/security-log.ts';
import { apiKeyColumns, recordRevoked } from '../memberships/api-key-changes.ts';
import { familyOf, newCode, newPair, successorsOf, type Pair } from './client-tokens.ts';
import { OAuthError } from './errors.ts';
import { findPlace, withGrant, type Grant } from './find-grant.ts';

/*
 * What a client was granted: an API key of the employee who consented, whose secret the client renews. Scopes, expiry, last use,
 * revocation, the audit log and the end of access are those of keys; `oauth_grants` has what keys do not have. Invariants:
 *
 * - The hash of the key is that of the access token, which lives for 15 minutes. A new access token replaces the one before.
 * - A code is good for a minute and once. A second use revokes the grant, because two parties have the code.
 * - A refresh token is replaced at each use. Its successor is an HMAC of it, so an answer that was lost on its way is
 *   the same again within 10 seconds. Any later use of it revokes the grant: somebody else has it.
 * - All refresh tokens of a grant begin with its family, which is random, so old ones are known without being stored.
 * - The key expires 30 days after the last refresh, and 90 days after the consent.
 * - All of that is decided under the lock of the key's row.
 */

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
export const codeLifetimeMs = minuteMs;
const accessLifetimeMs = 15 * minuteMs;
const idleMs = 30 * dayMs;
const lifetimeMs = 90 * dayMs;
const graceMs = 10_000;

export type PendingGrant = { companyId: number; apiKeyId: number; redirectUri: string; codeChallenge: string };

/** Inserts the grant of a key that nobody holds yet; returns the code for it. */
export async function insertGrant(db: Db, grant: PendingGrant, now: Date): Promise<string> {
  const code = newCode();
  await db
    .insertInto('oauth_grants')
    .values({
      company_id: grant.companyId,
      api_key_id: grant.apiKeyId,
      code_hash: hashSecret(code),
      code_expires_at: new Date(now.getTime() + codeLifetimeMs),
      redirect_uri: grant.redirectUri,
      code_challenge: grant.codeChallenge,
    })
    .execute();
  return code;
}

async function revoke(ctx: Context, db: Db, { companyId, apiKeyId }: Grant, because: string, now: Date): Promise<void> {
  const revoked = await db
    .updateTable('api_keys')
    .set({ revoked_at: now })
    .where('company_id', '=', companyId)
    .where('api_key_id', '=', apiKeyId)
    .where('revoked_at', 'is', null)
    .returning(apiKeyColumns)
    .executeTakeFirst();
  if (!revoked) return;
  recordRevoked(db, companyId, revoked, { because, actorId: null, now });
  logSecurity(ctx, 'grant revoked', { companyId, employeeId: revoked.employee_id, apiKeyId, because });
}

/** The answer of the token endpoint: RFC 6749 (5.1). */
export type TokenAnswer = {
  access_token: string;
  token_type: 'Bearer';
  expires_in: number;
  refresh_token: string;
  scope: string;
};

const toAnswer = (pair: Pair, { scopes }: Grant, accessExpiresAt: Date, now: Date): TokenAnswer => ({
  access_token: pair.accessToken,
  token_type: 'Bearer',
  expires_in: Math.max(0, Math.floor((accessExpiresAt.getTime() - now.getTime()) / 1000)),
  refresh_token: pair.refreshToken,
  scope: scopes.join(' '),
});

/** Stores a pair as the one that is good now. */
async function storePair(db: Db, grant: Grant, pair: Pair, now: Date): Promise<TokenAnswer> {
  const { companyId, apiKeyId } = grant;
  const end = grant.createdAt.getTime() + lifetimeMs;
  const until = (ms: number) => new Date(Math.min(now.getTime() + ms, end));
  const accessExpiresAt = until(accessLifetimeMs);
  await db
    .updateTable('api_keys')
    .set({ key_hash: hashSecret(pair.accessToken), access_expires_at: accessExpiresAt, expires_at: until(idleMs) })
    .where('company_id', '=', companyId)
    .where('api_key_id', '=', apiKeyId)
    .execute();
  await db
    .updateTable('oauth_grants')
    .set({
      code_used_at: sql`coalesce(code_used_at, ${now})`,
      family_hash: hashSecret(familyOf(pair.refreshToken)!),
      previous_refresh_hash: grant.refreshHash,
      refresh_hash: hashSecret(pair.refreshToken),
      rotated_at: now,
    })
    .where('company_id', '=', companyId)
    .where('api_key_id', '=', apiKeyId)
    .execute();
  return toAnswer(pair, grant, accessExpiresAt, now);
}

const wrongCode = 'The code is wrong, was used, or is older than a minute: ask for access again.';

export type CodeExchange = { code: string; clientId: string; redirectUri: string; codeVerifier: string };

/** Exchanges a code for the first pair of tokens. */
export async function exchangeCode(ctx: Context, asked: CodeExchange): Promise<TokenAnswer> {
  const { code, clientId, redirectUri, codeVerifier } = asked;
  const found = { by: 'code_hash', secret: code, otherwise: wrongCode } as const;
  return withGrant<TokenAnswer>(ctx, 'oauth.token', found, async (db, grant, now) => {
    // Who does not know what the code is bound to learns nothing, and ends nothing.
    if (grant.clientId !== clientId || grant.redirectUri !== redirectUri) return { refused: wrongCode };
    if (grant.codeChallenge !== createHash('sha256').update(codeVerifier).digest('base64url'))
      return { refused: 'The code_verifier does not match the code_challenge.' };
    if (grant.isCodeUsed) {
      await revoke(ctx, db, grant, 'its code was used again', now);
      return { refused: wrongCode };
    }
    if (!grant.isLive || grant.codeExpiresAt <= now) return { refused: wrongCode };
    return { answer: await storePair(db, grant, newPair(), now) };
  });
}

const wrongRefreshToken = 'The refresh token is wrong, was used, or has expired: ask for access again.';

/** Replaces a refresh token, and the access token with it. */
export async function refreshGrant(
  ctx: Context,
  { refreshToken, clientId, scopes }: { refreshToken: string; clientId: string; scopes: readonly string[] },
): Promise<TokenAnswer> {
  const family = familyOf(refreshToken);
  if (family === undefined) throw new OAuthError('invalid_grant', wrongRefreshToken);
  const found = { by: 'family_hash', secret: family, otherwise: wrongRefreshToken } as const;
  return withGrant<TokenAnswer>(ctx, 'oauth.token', found, async (db, grant, now) => {
    if (grant.clientId !== clientId || !grant.isLive) return { refused: wrongRefreshToken };
    const presented = hashSecret(refreshToken);
    const isCurrent = presented === grant.refreshHash;
    const isRetry = presented === grant.previousRefreshHash && now.getTime() - grant.rotatedAt!.getTime() <= graceMs;
    if (!isCurrent && !isRetry) {
      await revoke(ctx, db, grant, 'a refresh token of it was used again', now);
      return { refused: wrongRefreshToken };
    }
    if (scopes.some((scope) => !grant.scopes.includes(scope)))
      throw new OAuthError('invalid_scope', 'A refresh cannot add scopes: ask for access again.');
    const pairs = successorsOf(ctx.services.tokens, family, refreshToken);
    if (isCurrent) return { answer: await storePair(db, grant, pairs[0], now) };
    const given = pairs.find((pair) => hashSecret(pair.refreshToken) === grant.refreshHash);
    // A node answered it by a key that this one does not know.
    if (!given) return { refused: wrongRefreshToken };
    return { answer: toAnswer(given, grant, grant.accessExpiresAt!, now) };
  });
}

/** Revokes the grant of an access or a refresh token (RFC 7009). A token that is unknown has ended already. */
export async function revokeToken(ctx: Context, token: string, clientId: string): Promise<void> {
  const family = familyOf(token);
  const [by, secret] = family === undefined ? (['key_hash', token] as const) : (['family_hash', family] as const);
  if (!(await findPlace(ctx, by, secret))) return;
  await withGrant(ctx, 'oauth.revoke', { by, secret, otherwise: '' }, async (db, grant, now) => {
    if (grant.clientId !== clientId) return { refused: 'The token is not of this client.' };
    await revoke(ctx, db, grant, 'ended by its client', now);
    return { answer: undefined };
  });
}
