import { z } from 'zod';
import { rest } from '../../kernel/operation.ts';
import { member } from '../../kernel/procedures.ts';
import { ApiKey, apiKeyFields, isFetched, toApiKey } from '../memberships/api-key.ts';

export const listApiKeys = member('everything')
  .meta(
    rest('GET /api/api-keys/', {
      section: 'Additions',
      summary: "One's own live API keys, without the keys themselves",
      description:
        'The newest first, also those that have expired and were not revoked. What an OAuth client was granted is a key too, with its `client`.',
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
      .where(isFetched)
      .select(apiKeyFields)
      .orderBy('api_key_id', 'desc')
      .execute();
    return { keys: rows.map(toApiKey) };
  });
