import { z } from 'zod';
import { NOT_FOUND } from '../../errors/errors.ts';
import { rest } from '../../kernel/operation.ts';
import { admin } from '../../kernel/procedures.ts';
import { done, idOf } from '../../kernel/wire/fields.ts';
import { noteWebhook } from './audited-webhook.ts';
import { webhookColumns } from './queries.ts';

export const deleteWebhook = admin('everything')
  .meta(
    rest('DELETE /api/webhooks/{webhook_id}/', {
      section: 'Additions',
      summary: 'Delete a webhook',
      description: 'Its messages and their attempts are deleted with it; one that is on its way may still arrive.',
    }),
  )
  .input(z.object({ webhook_id: idOf('webhook') }))
  .output(done)
  .mutation(async ({ ctx, input }) => {
    const deleted = await ctx.db
      .deleteFrom('webhooks')
      .where('company_id', '=', ctx.caller.companyId)
      .where('webhook_id', '=', input.webhook_id)
      .returning(webhookColumns)
      .executeTakeFirstOrThrow(() => NOT_FOUND());
    noteWebhook(ctx.db, 'deleted', { before: deleted });
    return { success: true } as const;
  });
