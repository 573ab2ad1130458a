import { z } from 'zod';
import type { Scope } from '../../platform/credential.ts';
import { rest } from '../../kernel/operation.ts';
import { member } from '../../kernel/procedures.ts';
import { ApiKey } from '../memberships/api-key.ts';

export const listApiKeys = member
  .meta(
    rest('GET /api/api-keys/', {
      section: 'Additions',
      summary: "One's own live API keys, without the keys themselves",
      description: 'The newest first.',
    }),
  )
  .output(z.object({ keys: z.array(ApiKey) }))
  .query(async ({ ctx }) => {
    const { companyId, employeeId } = ctx.caller;
    const rows = await ctx.db
      .selectFrom('api_keys')
      .where('company_id', '=', companyId)
      .where('employee_id', '=', employeeId)
      .where('revoked_at', 'is', null)
      .select(['api_key_id', 'name', 'key_start', 'scopes', 'expires_at', 'last_used_at', 'created_at'])
      .orderBy('api_key_id', 'desc')
      .execute();
    const keys = rows.map((row) => ({
      _id: row.api_key_id,
      name: row.name,
      start: row.key_start,
      scopes: row.scopes as Scope[],
      expiresAt: row.expires_at,
      lastUsedAt: row.last_used_at,
      createdAt: row.created_at,
    }));
    return { keys };
  });
