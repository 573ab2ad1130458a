import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import { exportJWK, generateKeyPair, importJWK, jwtVerify, SignJWT, type CryptoKey, type JWK } from 'jose';
import { INVALID_TOKEN } from './faults.ts';

/**
 * Vocabulary. An access token (15 minutes) and a refresh token (30 days at most) are JWTs bound to one session.
 * They differ in `typ` and audience, so neither passes for the other. Both are signed with Ed25519 and
 * nothing else is accepted. The first key of the set signs; all of it verifies, so keys can be rotated.
 */
const algorithm = 'EdDSA';
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
  /** The same session, generation and times make the same token, byte for byte. */
  issueRefresh(session: { sessionId: number; generation: number; issuedAt: Date; expiresAt: Date }): Promise<string>;
  /** Refuses what is not genuine; whether it has expired is for the caller to see. At once where it is known already. */
  verifyAccess(token: string): Promise<TokenClaims> | TokenClaims;
  verifyRefresh(token: string): Promise<RefreshClaims> | RefreshClaims;
  /** A keyed hash for secrets too short to be hashed plainly, such as six digits. */
  digest(purpose: string, secret: string): string;
  isDigest(stored: string, purpose: string, secret: string): boolean;
  /** 32 bytes that only this service can derive from `salt`, by each key of the set: the first seals, all of them open. */
  deriveKeys(purpose: string, salt: string): [Buffer, ...Buffer[]];
};

/** Makes a key set, as `AUTH_KEYS` takes it. */
export async function generateKeys(): Promise<string> {
  const { privateKey } = await generateKeyPair(algorithm, { extractable: true });
  const jwk = await exportJWK(privateKey);
  return JSON.stringify({ keys: [{ ...jwk, alg: algorithm, use: 'sig', kid: randomBytes(8).toString('hex') }] });
}

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
  const verified = { access: createClaimsCache(), refresh: createClaimsCache() };

  const sign = (kind: keyof typeof types, sessionId: number, claims: Record<string, unknown>, times: Times) =>
    new SignJWT({ sid: sessionId, ...claims })
      .setProtectedHeader({ alg: algorithm, typ: types[kind].typ, kid: signingJwk!.kid! })
      .setIssuer(issuer)
      .setAudience(types[kind].audience)
      .setSubject(`session ${sessionId}`)
      .setIssuedAt(times.issuedAt)
      .setExpirationTime(times.expiresAt)
      .sign(signing);

  async function verify(kind: keyof typeof types, token: string): Promise<RefreshClaims> {
    try {
      refuseOtherSpellings(token);
      const { payload } = await jwtVerify(token, (header) => verifying.get(header.kid ?? '') ?? refuse(), {
        algorithms: [algorithm],
        issuer,
        audience: types[kind].audience,
        typ: types[kind].typ,
        requiredClaims: ['exp', 'sid'],
        // Expiry is judged by the caller against the service's clock, at each use.
        currentDate: new Date(0),
      });
      const claims = {
        sessionId: toInteger(payload['sid']),
        generation: kind === 'refresh' ? toInteger(payload['gen']) : 0,
        expiresAt: new Date(payload.exp! * 1000),
      };
      verified[kind].set(token, claims);
      return claims;
    } catch (error) {
      throw INVALID_TOKEN({ cause: error });
    }
  }

  const mac = (secret: Buffer, purpose: string, text: string) =>
    createHmac('sha256', secret).update(`${purpose}\0${text}`).digest('base64url');

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
    verifyAccess: (token) => verified.access.get(token) ?? verify('access', token),
    verifyRefresh: (token) => verified.refresh.get(token) ?? verify('refresh', token),
    digest: (purpose, secret) => mac(secrets[0]!, purpose, secret),
    isDigest: (stored, purpose, secret) => secrets.some((key) => isEqual(stored, mac(key, purpose, secret))),
    deriveKeys: (purpose, salt) =>
      secrets.map((secret) => Buffer.from(hkdfSync('sha256', secret, salt, purpose, 32))) as [Buffer, ...Buffer[]],
  };
}

function readKeys(keys: string): JWK[] {
  let set: { keys?: JWK[] };
  try {
    set = JSON.parse(keys) as { keys?: JWK[] };
  } catch {
    throw new Error('AUTH_KEYS is not JSON');
  }
  const usable = set.keys ?? [];
  const good =
    usable.length > 0 && usable.every((key) => key.kty === 'OKP' && key.crv === 'Ed25519' && key.d && key.x && key.kid);
  if (!good)
    throw new Error(
      'AUTH_KEYS must be a JSON Web Key Set of Ed25519 private keys, each with a kid (make one with `npm run keys`)',
    );
  return usable;
}

/** The last character of a signature has bits to spare: only one of its spellings is ours. */
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

type Genuine = { token: string; claims: RefreshClaims };

/**
 * A signature costs more to check than all else of a small read, so what was genuine once is remembered: found by the
 * end of its signature, which is shorter to look up, and held against the whole of it. What has not been asked for since
 * the younger half was full is forgotten.
 */
function createClaimsCache(entriesMax = 10_000) {
  let younger = new Map<string, Genuine>();
  let older = new Map<string, Genuine>();

  function keep(end: string, genuine: Genuine): void {
    if (younger.size >= entriesMax) {
      older = younger;
      younger = new Map();
    }
    younger.set(end, genuine);
  }

  return {
    set: (token: string, claims: RefreshClaims) => keep(endOf(token), { token, claims }),
    get(token: string): RefreshClaims | undefined {
      const end = endOf(token);
      let found = younger.get(end);
      if (!found) {
        found = older.get(end);
        if (found) keep(end, found);
      }
      return found?.token === token ? found.claims : undefined;
    },
  };
}

/** Of so few characters V8 makes a string of their own; longer ones it leaves in the token, and is slow to look up. */
const endOf = (token: string): string => token.slice(-12);
