import { createHash } from 'node:crypto';
import { createRemoteJWKSet, errors, jwtVerify, type JWTPayload } from 'jose';
import type { Clock } from './clock.ts';
import { defineError } from '../errors/api-error.ts';
import { SERVICE_UNAVAILABLE } from '../errors/errors.ts';
import { emailAddress } from './email-address.ts';

export const INVALID_IDENTITY_TOKEN = defineError(
  'INVALID_IDENTITY_TOKEN',
  'UNAUTHORIZED',
  'The identity token is not valid for this service, or does not prove that e-mail address.',
);

/** The identity that a provider confirms. */
export type Identity = {
  issuer: string;
  subject: string;
  /** The verified address in lower case; Apple omits it after the first login. */
  email: string | null;
  /** Identifies the token, independent of its signature's spelling. */
  tokenHash: string;
  expiresAt: Date;
};

export type IdentityProvider = {
  /** If `nonce` is given, the token must contain it, or its SHA-256 as native apps send it to Apple. */
  verify(token: string, nonce?: string | null): Promise<Identity>;
};

export type IdentityProviders = { google: IdentityProvider; apple: IdentityProvider };

export type ProviderSettings = { issuer: string; audiences: string[]; jwksUrl: string };

/** The algorithms that Google and Apple sign with. A token cannot choose another. */
const algorithms = ['RS256', 'ES256'];

/** The largest difference between the provider's clock and ours. */
const toleranceSeconds = 30;

const subjectMax = 255;

/**
 * Verifies identity tokens against a provider's published keys. The library caches them, and fetches them again when a token
 * names an unknown key, at most every 30 seconds: that is how providers rotate keys.
 */
export function createIdentityProvider(
  { issuer, audiences, jwksUrl }: ProviderSettings,
  clock: Clock,
): IdentityProvider {
  const keys = createRemoteJWKSet(new URL(jwksUrl));
  // Google's issuer comes with and without the scheme.
  const issuers = issuer === 'https://accounts.google.com' ? [issuer, 'accounts.google.com'] : [issuer];

  async function claimsOf(token: string): Promise<JWTPayload> {
    try {
      const { payload } = await jwtVerify(token, keys, {
        algorithms,
        issuer: issuers,
        audience: audiences,
        requiredClaims: ['sub', 'exp', 'iat'],
        currentDate: clock.now(),
        clockTolerance: toleranceSeconds,
      });
      return payload;
    } catch (error) {
      if (isProviderAway(error)) throw SERVICE_UNAVAILABLE({ retryAfterSeconds: 5, cause: error });
      throw INVALID_IDENTITY_TOKEN({ cause: error });
    }
  }

  return {
    async verify(token, nonce) {
      if (audiences.length === 0) throw INVALID_IDENTITY_TOKEN({ detail: 'This way to sign in is not set up here.' });
      const claims = await claimsOf(token);
      const { sub: subject, email, email_verified: isVerified } = claims;
      if (!isStorable(subject) || !isForUs(claims, audiences)) throw INVALID_IDENTITY_TOKEN();
      if (claims.iat! > clock.now().getTime() / 1000 + toleranceSeconds) throw INVALID_IDENTITY_TOKEN();
      if (nonce !== undefined && nonce !== null && !isNonce(claims['nonce'], nonce))
        throw INVALID_IDENTITY_TOKEN({ detail: 'The nonce is not the one of the identity token.' });
      const identity = { issuer, subject, tokenHash: hashOf(token), expiresAt: storable(claims.exp!) };
      if (email === undefined || email === null) return { ...identity, email: null };
      // Apple sends the flag as a string.
      const isProved = isVerified === true || isVerified === 'true';
      const address = emailAddress.safeParse(email);
      if (!address.success || !isProved)
        throw INVALID_IDENTITY_TOKEN({ detail: 'The provider has not verified that e-mail address.' });
      return { ...identity, email: address.data };
    },
  };
}

/** OpenID Connect Core 2: at most 255 characters. */
function isStorable(subject: string | undefined): subject is string {
  return subject !== undefined && /^[^\p{C}]+$/u.test(subject) && subject.length <= subjectMax;
}

/** The database, and `Date`, know no end of a token beyond the year 9999. */
const storable = (seconds: number): Date => new Date(Math.min(seconds * 1000, Date.UTC(9999, 0)));

/** OpenID Connect Core 3.1.3.7: no unknown audience, and the authorized party is one of ours. */
function isForUs({ aud, azp }: JWTPayload, audiences: string[]): boolean {
  const named = [aud].flat();
  const areOurs = named.every((one) => one !== undefined && audiences.includes(one));
  return areOurs && (azp === undefined ? named.length === 1 : audiences.includes(azp as string));
}

function isNonce(claimed: unknown, nonce: string): boolean {
  const hash = createHash('sha256').update(nonce).digest();
  return [nonce, hash.toString('hex'), hash.toString('base64url')].includes(claimed as string);
}

/** A hash of the signed part: a signature has several spellings. */
const hashOf = (token: string): string =>
  createHash('sha256')
    .update(token.slice(0, token.lastIndexOf('.')))
    .digest('base64url');

/** Whether the key set could not be read; all other errors of jose are the token's. */
function isProviderAway(error: unknown): boolean {
  if (error instanceof errors.JWKSTimeout || error instanceof errors.JWKSInvalid) return true;
  if (!(error instanceof errors.JOSEError)) return true;
  return error.constructor === errors.JOSEError;
}
