import { createRemoteJWKSet, errors, jwtVerify, type JWTPayload } from 'jose';
import type { Clock } from './context.ts';
import { fault } from './fault.ts';
import { SERVICE_UNAVAILABLE } from './faults.ts';

export const INVALID_IDENTITY_TOKEN = fault(
  'INVALID_IDENTITY_TOKEN',
  'UNAUTHORIZED',
  'The identity token is not valid for this service, or does not prove that e-mail address.',
);

/** What a provider vouches for. */
export type Identity = {
  issuer: string;
  subject: string;
  /** The proved address in small letters; Apple leaves it out after the first login. */
  email: string | null;
};

export type IdentityProvider = { verify(token: string): Promise<Identity> };

export type IdentityProviders = { google: IdentityProvider; apple: IdentityProvider };

export type ProviderSettings = { issuer: string; audiences: string[]; jwksUrl: string };

/** The algorithms that Google and Apple sign with. A token cannot choose another. */
const algorithms = ['RS256', 'ES256'];

/**
 * Verifies identity tokens against a provider's published keys, which are kept, and fetched again when a token
 * names a key that is not among them, at most every 30 seconds: that is how providers rotate.
 */
export function createIdentityProvider(
  { issuer, audiences, jwksUrl }: ProviderSettings,
  clock: Clock,
  { cooldownMs = 30_000 }: { cooldownMs?: number } = {},
): IdentityProvider {
  const keys = createRemoteJWKSet(new URL(jwksUrl), {
    timeoutDuration: 5_000,
    cooldownDuration: cooldownMs,
    cacheMaxAge: 10 * 60_000,
  });
  // Google writes its issuer both with and without the scheme.
  const issuers = issuer === 'https://accounts.google.com' ? [issuer, 'accounts.google.com'] : [issuer];

  async function claimsOf(token: string): Promise<JWTPayload> {
    try {
      const { payload } = await jwtVerify(token, keys, {
        algorithms,
        issuer: issuers,
        audience: audiences,
        requiredClaims: ['sub', 'exp', 'iat'],
        currentDate: clock.now(),
        clockTolerance: 30,
      });
      return payload;
    } catch (error) {
      if (isProviderAway(error)) throw SERVICE_UNAVAILABLE({ retryAfterSeconds: 5, cause: error });
      throw INVALID_IDENTITY_TOKEN({ cause: error });
    }
  }

  return {
    async verify(token) {
      if (audiences.length === 0) throw INVALID_IDENTITY_TOKEN({ detail: 'This way to sign in is not set up here.' });
      const claims = await claimsOf(token);
      const { sub: subject, email, email_verified: isVerified } = claims;
      if (subject === undefined || subject === '') throw INVALID_IDENTITY_TOKEN();
      if (email === undefined || email === null) return { issuer, subject, email: null };
      // Apple sends the flag as a word.
      const isProved = isVerified === true || isVerified === 'true';
      if (typeof email !== 'string' || !isProved)
        throw INVALID_IDENTITY_TOKEN({ detail: 'The provider has not verified that e-mail address.' });
      return { issuer, subject, email: email.trim().toLowerCase() };
    },
  };
}

/** The key set could not be read; everything else that jose throws is the token's own fault. */
function isProviderAway(error: unknown): boolean {
  if (error instanceof errors.JWKSTimeout || error instanceof errors.JWKSInvalid) return true;
  if (!(error instanceof errors.JOSEError)) return true;
  return error.constructor === errors.JOSEError;
}
