import { z } from 'zod';
import { hashSecret } from '../../kernel/authentication.ts';
import { scopes, scopesOfAdmins } from '../../platform/scopes.ts';
import { ADMIN_REQUIRED, invalid, SESSION_BOUND, SESSION_REQUIRED } from '../../errors/errors.ts';
import { rest } from '../../kernel/operation.ts';
import { accountOf, member } from '../../kernel/procedures.ts';
import { recordChange } from '../../kernel/change-event.ts';
import { changeStream } from '../../kernel/change-streams.ts';
import { name } from '../../kernel/wire/fields.ts';
import { timestamp } from '../../kernel/wire/moments.ts';
import { getAccountById } from '../auth/accounts.ts';
import { getCompany } from '../company/queries.ts';
import { notifyAccountOwner } from '../notices/account-notice.ts';
import { ApiKey, ApiKeyScope } from '../memberships/api-key.ts';
import { apiKeyCreated } from '../memberships/events.ts';
import { apiKeyColumns, toApiKeyHeader } from '../memberships/membership.ts';
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
      scopes: z.array(ApiKeyScope).min(1).max(scopes.length),
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
    const { accountId } = accountOf(caller);
    const now = services.clock.now();
    const granted = [...new Set(input.scopes)];
    const reserved = granted.find((scope) => scopesOfAdmins.includes(scope));
    if (reserved !== undefined && !caller.isAdmin)
      throw ADMIN_REQUIRED({ detail: `Only an admin may make a key with the scope ${reserved}.` });
    if (input.expiresAt && input.expiresAt <= now)
      throw invalid(['expiresAt'], 'must be in the future', 'out_of_range');

    const key = newApiKey();
    const start = key.slice(0, 10);
    const row = await ctx.db
      .insertInto('api_keys')
      .values({
        company_id: caller.companyId,
        employee_id: caller.employeeId,
        name: input.name,
        key_hash: hashSecret(key),
        key_start: start,
        scopes: granted,
        expires_at: input.expiresAt ?? null,
        created_at: now,
      })
      .returning(apiKeyColumns)
      .executeTakeFirstOrThrow();
    recordChange(ctx.db, apiKeyCreated, {
      companyId: caller.companyId,
      streams: [changeStream.company(caller.companyId)],
      payload: { actorId: caller.employeeId, apiKeyId: row.api_key_id, apiKey: toApiKeyHeader(row) },
      at: now,
    });
    const { email } = await getAccountById(ctx.db, accountId);
    const { name: company } = await getCompany(ctx.db, caller.companyId);
    const notice = { kind: 'api key made', name: input.name, company, scopes: granted } as const;
    await notifyAccountOwner(ctx.db, { email, notice, request: ctx.request, now });
    return {
      _id: row.api_key_id,
      name: input.name,
      start,
      scopes: granted,
      expiresAt: input.expiresAt ?? null,
      lastUsedAt: null,
      createdAt: now,
      key,
    };
  });
