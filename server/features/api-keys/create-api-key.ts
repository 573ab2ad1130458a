import { z } from 'zod';
import { hashSecret } from '../../kernel/authentication.ts';
import { scopes as allScopes } from '../../platform/scopes.ts';
import { ADMIN_REQUIRED, invalid, SESSION_BOUND, SESSION_REQUIRED } from '../../errors/errors.ts';
import { rest } from '../../kernel/operation.ts';
import { accountOf, member } from '../../kernel/procedures.ts';
import { name } from '../../kernel/wire/fields.ts';
import { timestamp } from '../../kernel/wire/moments.ts';
import { ApiKey, ApiKeyScope } from '../memberships/api-key.ts';
import { apiKeyCreated } from '../memberships/events.ts';
import { checkGrantable, insertApiKey } from './insert-api-key.ts';
import { newApiKey } from './new-key.ts';

export const createApiKey = member('no key')
  .meta(
    rest('POST /api/api-keys/', {
      section: 'Additions',
      summary: 'Make an API key for scripts and integrations',
      description:
        'The key is shown in this answer and never again. It acts as the employee who made it, within its scopes and never beyond what the employee may do. Each operation says which scopes it needs: those of an area, such as `time:read`, or `read` or `write`, which hold all areas. Only admins make keys with `admin`, which gives a key of single areas their admin rights there, and with `login`, which signs employees of the company in through POST /token-login/. The key ends with the employee’s access, and with a reset of their password. The account is told of it by mail, and again a week before it expires, if it lives longer than a week.',
      errors: [SESSION_REQUIRED, SESSION_BOUND, ADMIN_REQUIRED],
      answersSecret: true,
      changes: [apiKeyCreated],
      securityAct: { event: 'key made', made: 'apiKeyMade' },
      example: { name: 'Nightly import', scopes: ['time:read', 'time:write'], expiresAt: '2036-01-01T00:00:00Z' },
    }),
  )
  .input(
    z.object({
      name: name({ max: 100 }),
      scopes: z.array(ApiKeyScope).min(1).max(allScopes.length),
      expiresAt: timestamp.nullish(),
    }),
  )
  .output(
    ApiKey.extend({ key: z.string().meta({ description: 'Send it as `Authorization: Bearer …`, alone' }) }).meta({
      id: 'NewApiKey',
    }),
  )
  .mutation(async ({ ctx, input }) => {
    const { caller, services } = ctx;
    const holder = accountOf(caller);
    const now = services.clock.now();
    const scopes = [...new Set(input.scopes)];
    checkGrantable(caller, scopes);
    if (input.expiresAt && input.expiresAt <= now)
      throw invalid(['expiresAt'], 'must be in the future', 'out_of_range');

    const key = newApiKey();
    const start = key.slice(0, 10);
    const made = {
      name: input.name,
      key_hash: hashSecret(key),
      key_start: start,
      scopes,
      expires_at: input.expiresAt ?? null,
    };
    const { api_key_id: _id } = await insertApiKey(
      ctx,
      { ...made, created_at: now },
      { ...holder, kind: 'api key made' },
    );
    return {
      _id,
      name: input.name,
      start,
      scopes,
      expiresAt: input.expiresAt ?? null,
      lastUsedAt: null,
      createdAt: now,
      client: null,
      key,
    };
  });
