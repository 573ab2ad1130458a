import { z } from 'zod';
import { NOT_FOUND } from '../../errors/errors.ts';
import { rest } from '../../kernel/operation.ts';
import { admin } from '../../kernel/procedures.ts';
import { idOf } from '../../kernel/wire/fields.ts';
import { fromWebhook, toWebhook, webhookColumns } from './queries.ts';
import { Webhook } from './schemas.ts';

export const getWebhook = admin('everything')
  .meta(rest('GET /api/webhooks/{webhook_id}/', { section: 'Additions', summary: 'One webhook of the company' }))
  .input(z.object({ webhook_id: idOf('webhook') }))
  .output(Webhook)
  .query(async ({ ctx, input }) => {
    const row = await fromWebhook(ctx.db, ctx.caller.companyId, input.webhook_id)
      .select(webhookColumns)
      .executeTakeFirstOrThrow(() => NOT_FOUND());
    return toWebhook(row, ctx.services.clock.now());
  });
