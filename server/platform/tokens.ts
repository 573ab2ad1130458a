import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import { importJWK, jwtVerify, SignJWT, type CryptoKey } from 'jose';
import { INVALID_TOKEN } from '../errors/errors.ts';
import { createClaimsCache } from './claims-cache.ts';
import { createSignedStatements, type SignedStatements } from './signed-statements.ts';
import { algorithm, readKeys } from './signing-keys.ts';

/**
 * An access token (15 minutes) and a refresh token (30 days at most) are JWTs bound to one session. They differ in
 * `typ` and audience, so neither is accepted as the other. Both are signed with Ed25519; no other algorithm is
 * accepted. The first key of the set signs and all of them verify, so keys can be rotated: a new one comes behind the old
 * ones, until every node knows it.
 */
const issuer = 'work-management-service';
const types = {
  access: { typ: 'at+jwt', audience: 'work-management-service:access', lifetimeSeconds: 15 * 60 },
  refresh: { typ: 'rt+jwt', audience: 'work-management-service:refresh', lifetimeSeconds: 30 * 24 * 3600 },
} as const;

export const accessLifetimeSeconds = types.access.lifetimeSeconds;
export const refreshLifetimeMs = types.refresh.lifetimeSeconds * 1000;

export type TokenClaims = { sessionId: number; expiresAt: Date };
export type RefreshClaims = TokenClaims & { generation: number };

type Times = { issuedAt: Date; expiresAt: Date };

export type Tokens = {
  issueAccess(session: { sessionId: number; now: Date }): Promise<string>;
  /** The same session, generation and times produce the same token, byte for byte. */
  issueRefresh(session: { sessionId: number; generation: number; issuedAt: Date; expiresAt: Date }): Promise<string>;
  /** Throws if the token is not genuine; the caller checks its expiry. Synchronous if the token is cached. */
  verifyAccess(token: string): Promise<TokenClaims> | TokenClaims;
  verifyRefresh(token: string): Promise<RefreshClaims> | RefreshClaims;
  /** A keyed hash for secrets too short for a plain hash, such as six digits. */
  digest(purpose: string, secret: string): string;
  /** By each key of the set, as {@link digest} by the first. */
  digests(purpose: string, secret: string): [string, ...string[]];
  isDigest(stored: string, purpose: string, secret: string): boolean;
  /**
   * 32 bytes that only this service can derive from `salt`, by each key of the set: the first encrypts, all of them
   * decrypt.
   */
  deriveKeys(purpose: string, salt: string): [Buffer, ...Buffer[]];
  /** Signs what is read much later, and verifies it. */
  statements: SignedStatements;
};

/** `keys` is a JSON Web Key Set of Ed25519 private keys, each with a `kid`; the first one signs. */
export async function createTokens(keys: string): Promise<Tokens> {
  const set = readKeys(keys);
  const verifying = new Map<string, CryptoKey>();
  for (const { d: _, ...publicPart } of set)
    verifying.set(publicPart.kid ?? '', (await importJWK(publicPart, algorithm)) as CryptoKey);
  const [signingJwk] = set;
  const signing = (await importJWK(signingJwk!, algorithm)) as CryptoKey;
  const secrets = set.map((key) =>
    Buffer.from(hkdfSync('sha256', Buffer.from(key.d!, 'base64url'), '', 'wms digest', 32)),
  );
  const verifyAccess = createVerifier('access', verifying);
  const verifyRefresh = createVerifier('refresh', verifying);

  const sign = (kind: keyof typeof types, sessionId: number, claims: Record<string, unknown>, times: Times) =>
    new SignJWT({ sid: sessionId, ...claims })
      .setProtectedHeader({ alg: algorithm, typ: types[kind].typ, kid: signingJwk!.kid! })
      .setIssuer(issuer)
      .setAudience(types[kind].audience)
      .setSubject(`session ${sessionId}`)
      .setIssuedAt(times.issuedAt)
      .setExpirationTime(times.expiresAt)
      .sign(signing);

  const digests = (purpose: string, text: string) =>
    secrets.map((secret) => createHmac('sha256', secret).update(`${purpose}\0${text}`).digest('base64url')) as [
      string,
      ...string[],
    ];

  return {
    issueAccess: ({ sessionId, now }) =>
      sign(
        'access',
        sessionId,
        { jti: randomBytes(9).toString('base64url') },
        {
          issuedAt: now,
          expiresAt: new Date(now.getTime() + accessLifetimeSeconds * 1000),
        },
      ),
    issueRefresh: ({ sessionId, generation, ...times }) => sign('refresh', sessionId, { gen: generation }, times),
    verifyAccess,
    verifyRefresh,
    digest: (purpose, secret) => digests(purpose, secret)[0],
    digests,
    isDigest: (stored, purpose, secret) => digests(purpose, secret).some((digest) => isEqual(stored, digest)),
    statements: createSignedStatements({ key: signing, kid: signingJwk!.kid! }, verifying),
    deriveKeys: (purpose, salt) =>
      secrets.map((secret) => Buffer.from(hkdfSync('sha256', secret, salt, purpose, 32))) as [Buffer, ...Buffer[]],
  };
}

/** Verifies tokens of one kind, and caches them. */
function createVerifier(kind: keyof typeof types, keys: ReadonlyMap<string, CryptoKey>) {
  const verified = createClaimsCache();

  async function verify(token: string): Promise<RefreshClaims> {
    try {
      refuseOtherSpellings(token);
      const { payload } = await jwtVerify(token, (header) => keys.get(header.kid ?? '') ?? refuse(), {
        algorithms: [algorithm],
        issuer,
        audience: types[kind].audience,
        typ: types[kind].typ,
        requiredClaims: ['exp', 'sid'],
        // The caller checks the expiry against the service's clock, at each use.
        currentDate: new Date(0),
      });
      const claims = {
        sessionId: toInteger(payload['sid']),
        generation: kind === 'refresh' ? toInteger(payload['gen']) : 0,
        expiresAt: new Date(payload.exp! * 1000),
      };
      verified.set(token, claims);
      return claims;
    } catch (error) {
      throw INVALID_TOKEN({ cause: error });
    }
  }

  return (token: string): Promise<RefreshClaims> | RefreshClaims => verified.get(token) ?? verify(token);
}

/** The last character of a signature has unused bits, so it has several spellings: only ours is accepted. */
function refuseOtherSpellings(token: string): void {
  const signature = token.slice(token.lastIndexOf('.') + 1);
  if (Buffer.from(signature, 'base64url').toString('base64url') !== signature) refuse();
}

function refuse(): never {
  throw new Error('not a token of this service');
}

function toInteger(value: unknown): number {
  if (!Number.isSafeInteger(value)) throw new Error('a claim is missing');
  return value as number;
}

function isEqual(a: string, b: string): boolean {
  const left = Buffer.from(a);
  const right = Buffer.from(b);
  return left.length === right.length && timingSafeEqual(left, right);
}
