import { startIssuer } from '../support/issuer.ts';
import { startOutside } from './service.ts';

const now = (): Date => new Date();
/** Identity providers of the tests' own. */
export const google = await startIssuer(now);
export const apple = await startIssuer(now);

/** The one service that all claims of this folder are held against; people and companies of each section are its own. */
export const service = await startOutside({
  GOOGLE_CLIENT_IDS: google.audience,
  GOOGLE_ISSUER: google.issuer,
  GOOGLE_JWKS_URL: google.jwksUrl,
  APPLE_CLIENT_IDS: apple.audience,
  APPLE_ISSUER: apple.issuer,
  APPLE_JWKS_URL: apple.jwksUrl,
});
