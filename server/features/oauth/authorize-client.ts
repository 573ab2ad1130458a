import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { invalid, ADMIN_REQUIRED, SESSION_BOUND, SESSION_REQUIRED } from '../../errors/errors.ts';
import { clientTokenPrefix, hashSecret } from '../../kernel/authentication.ts';
import { rest } from '../../kernel/operation.ts';
import { accountOf, member } from '../../kernel/procedures.ts';
import { text } from '../../kernel/wire/fields.ts';
import { rule } from '../../errors/issues.ts';
import { scopesOfClients } from '../../platform/scopes.ts';
import { ApiKeyScope } from '../memberships/api-key.ts';
import { apiKeyCreated } from '../memberships/events.ts';
import { checkGrantable, insertApiKey } from '../api-keys/insert-api-key.ts';
import { findClient, keepClient } from './clients.ts';
import { codeLifetimeMs, insertGrant } from './grants.ts';
import { isRegistered, withParameters } from './redirect-uris.ts';
import { codeChallengeForm, stateMax } from './request.ts';

export const authorizeClient = member('no key')
  .meta(
    rest('POST /api/oauth/authorizations/', {
      section: 'Additions',
      summary: 'Let an OAuth client act as oneself',
      description:
        'What the page at /oauth/authorize calls when a person consents. The answer is where to send them: the redirect URI of the client with a code, good for a minute, that the client exchanges at POST /oauth/token. What it gets is an API key of the person, with these scopes at most, for /mcp alone; it is listed and revoked as other keys are. The account is told of it by mail. [A guide](/docs/guides/oauth) describes the whole.',
      errors: [SESSION_REQUIRED, SESSION_BOUND, ADMIN_REQUIRED],
      answersSecret: true,
      changes: [apiKeyCreated],
      securityAct: 'client authorized',
      example: {
        client_id: 'wmsc_4zLFr0cDhiS0rIUjCBQTbA',
        redirect_uri: 'http://127.0.0.1:8765/callback',
        code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
        code_challenge_method: 'S256',
        scopes: ['time:read', 'time:write'],
        state: 'af0ifjsldkj',
      },
    }),
  )
  .input(
    z.object({
      client_id: text({ max: 500 }).meta({ description: 'The OAuth client that asks' }),
      redirect_uri: text({ max: 2_000 }).meta({ description: 'One that the client has registered' }),
      code_challenge: z
        .string()
        .regex(codeChallengeForm, 'must be a SHA-256 in base64url, of 43 characters')
        .meta({ description: 'Of the code verifier (PKCE, RFC 7636)' }),
      code_challenge_method: z.literal('S256').meta({ description: 'How the challenge was made: there is one way' }),
      scopes: z
        .array(ApiKeyScope)
        .min(1)
        .max(scopesOfClients.length)
        .refine((scopes) => !scopes.includes('login'), rule('invalid_value', 'must not have login'))
        .meta({ description: 'What the person lets the client do' }),
      state: z.string().max(stateMax).nullish().meta({ description: 'Goes back to the client as it is' }),
    }),
  )
  .output(z.object({ redirect_to: z.string().meta({ description: 'With `code`, `state` and `iss`' }) }))
  .mutation(async ({ ctx, input }) => {
    const { caller, db, services } = ctx;
    const holder = accountOf(caller);
    const { companyId } = caller;
    const now = services.clock.now();
    const scopes = [...new Set(input.scopes)];
    checkGrantable(caller, scopes);
    const client = await findClient(db, input.client_id, now);
    if (!client) throw invalid(['client_id'], 'is no client that has registered', 'invalid_value');
    if (!isRegistered(input.redirect_uri, client.redirectUris))
      throw invalid(['redirect_uri'], 'is none that the client has registered', 'invalid_value');

    const key = {
      name: client.name,
      // Nobody has this secret: the client gets its first one for the code.
      key_hash: hashSecret(randomBytes(32).toString('base64url')),
      key_start: clientTokenPrefix,
      client_id: client.clientId,
      scopes,
      expires_at: new Date(now.getTime() + codeLifetimeMs),
      created_at: now,
    };
    const { api_key_id: apiKeyId } = await insertApiKey(ctx, key, { ...holder, kind: 'client authorized' });
    const pending = { companyId, apiKeyId, redirectUri: input.redirect_uri, codeChallenge: input.code_challenge };
    const code = await insertGrant(db, pending, now);
    await keepClient(db, client.clientId, now);
    const state = input.state ?? undefined;
    return { redirect_to: withParameters(input.redirect_uri, { code, state, iss: services.settings.publicUrl }) };
  });
