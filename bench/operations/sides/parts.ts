import { openServer, type ServerOptions } from '../../../db/open.ts';
import { createApp, type App } from '../../../server/app.ts';
import { createIdentityProvider } from '../../../server/platform/identity-provider.ts';
import { createLimits } from '../../../server/platform/rate-limits.ts';
import { createTokens } from '../../../server/platform/tokens.ts';
import { createLogger } from '../../../server/platform/log.ts';
import { setting } from './side.ts';

/**
 * This service as it runs for real, its limits in place and set high. Its worker stands still: what follows a write
 * (mail, notifications) is no part of the answer, and no other side does it.
 */
export async function createService(options: ServerOptions = {}): Promise<App> {
  const clock = { now: () => new Date() };
  const none = { issuer: 'https://none.example', audiences: [], jwksUrl: 'https://none.example' };
  return createApp({
    database: openServer(setting('DATABASE_URL'), options),
    clock,
    mailer: { send: async () => {} },
    tokens: await createTokens(setting('AUTH_KEYS')),
    limits: createLimits({ requestsPerMinute: 100_000_000 }),
    identityProviders: { google: createIdentityProvider(none, clock), apple: createIdentityProvider(none, clock) },
    settings: {
      publicUrl: 'http://127.0.0.1',
      appUrl: 'http://127.0.0.1',
      requireTokenPair: true,
      corsOrigins: [],
      trustProxy: [],
    },
    logger: createLogger({ level: 'silent' }),
  });
}
