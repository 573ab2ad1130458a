import { z } from 'zod';
import { NOT_FOUND, SESSION_REQUIRED } from '../../kernel/faults.ts';
import { rest } from '../../kernel/operation.ts';
import { member, sessionOf } from '../../kernel/procedures.ts';
import { done, id } from '../../kernel/wire.ts';

export const revokeApiKey = member
  .meta(
    rest('DELETE /api/api-keys/{key_id}/', {
      section: 'Additions',
      summary: 'Revoke an API key',
      description: 'One’s own; an admin any of the company. It is refused from then on, on every node.',
      faults: [SESSION_REQUIRED],
    }),
  )
  .input(z.object({ key_id: id }))
  .output(done)
  .mutation(async ({ ctx, input }) => {
    const { caller } = ctx;
    sessionOf(caller);
    const revoked = await ctx.db
      .updateTable('api_keys')
      .set({ revoked_at: ctx.services.clock.now() })
      .where('company_id', '=', caller.companyId)
      .where('api_key_id', '=', input.key_id)
      .where('revoked_at', 'is', null)
      .$if(!caller.isAdmin, (query) => query.where('employee_id', '=', caller.employeeId))
      .returning('api_key_id')
      .executeTakeFirst();
    if (!revoked) throw NOT_FOUND();
    return { success: true } as const;
  });
