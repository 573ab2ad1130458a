import { z } from 'zod';
import { NOT_FOUND, SESSION_BOUND, SESSION_REQUIRED } from '../../errors/errors.ts';
import { rest } from '../../kernel/operation.ts';
import { accountOf, member } from '../../kernel/procedures.ts';
import { done, idOf } from '../../kernel/wire/fields.ts';
import { apiKeyRevoked } from '../memberships/events.ts';
import { apiKeyColumns, recordRevoked } from '../memberships/api-key-changes.ts';
import { endSessionsOpenedBy } from '../memberships/end-access.ts';

export const revokeApiKey = member('no key')
  .meta(
    rest('DELETE /api/api-keys/{key_id}/', {
      section: 'Additions',
      summary: 'Revoke an API key',
      description:
        'One’s own; an admin any of the company. It is refused from then on, on every node, and the sessions that it opened end.',
      errors: [SESSION_REQUIRED, SESSION_BOUND],
      changes: [apiKeyRevoked],
      securityAct: 'key revoked',
    }),
  )
  .input(z.object({ key_id: idOf('apiKey') }))
  .output(done)
  .mutation(async ({ ctx, input }) => {
    const { caller } = ctx;
    accountOf(caller);
    const now = ctx.services.clock.now();
    const revoked = await ctx.db
      .updateTable('api_keys')
      .set({ revoked_at: now })
      .where('company_id', '=', caller.companyId)
      .where('api_key_id', '=', input.key_id)
      .where('revoked_at', 'is', null)
      .$if(!caller.isAdmin, (query) => query.where('employee_id', '=', caller.employeeId))
      .returning(apiKeyColumns)
      .executeTakeFirstOrThrow(() => NOT_FOUND());
    const { companyId, employeeId: actorId } = caller;
    const because = 'API key revoked';
    recordRevoked(ctx.db, companyId, revoked, { because, actorId, now });
    await endSessionsOpenedBy(ctx.db, { companyId, apiKeyIds: [input.key_id] }, because, now);
    return { success: true } as const;
  });
