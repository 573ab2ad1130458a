import { z } from 'zod';
import { nextCursor } from '../../kernel/wire/cursor.ts';
import { NOT_FOUND } from '../../errors/errors.ts';
import { rest } from '../../kernel/operation.ts';
import { admin } from '../../kernel/procedures.ts';
import { idOf } from '../../kernel/wire/fields.ts';
import { messageColumns, toDeliveries } from './deliveries.ts';
import { fromWebhook } from './queries.ts';
import { keptAttemptsMax, WebhookDelivery } from './schemas.ts';

const pageSize = 50;

export const listDeliveries = admin('everything')
  .meta(
    rest('GET /api/webhooks/{webhook_id}/deliveries/', {
      section: 'Additions',
      summary: 'Messages for a webhook, and the attempts to deliver them',
      description: `The newest first, ${pageSize} at a time: \`nextCursor\` is the \`cursor\` of those before, null after the last. Messages and the last ${keptAttemptsMax} attempts of each are kept for 30 days.`,
      example: { cursor: '9007199254740991' },
    }),
  )
  .input(
    z.object({
      webhook_id: idOf('webhook'),
      cursor: z
        .string()
        .regex(/^[1-9]\d{0,15}$/, 'must be the nextCursor of an answer')
        .optional()
        .meta({ description: 'Where to go on: the `nextCursor` of the answer before', examples: ['9007199254740991'] }),
    }),
  )
  .output(
    z.object({
      deliveries: z.array(WebhookDelivery).meta({ description: 'The messages, the newest first' }),
      nextCursor,
    }),
  )
  .query(async ({ ctx, input }) => {
    const { companyId } = ctx.caller;
    const { webhook_id: webhookId, cursor } = input;
    if (!(await fromWebhook(ctx.db, companyId, webhookId).select('webhook_id').executeTakeFirst())) throw NOT_FOUND();
    const rows = await ctx.db
      .selectFrom('webhook_messages')
      .where('company_id', '=', companyId)
      .where('webhook_id', '=', webhookId)
      .$if(cursor !== undefined, (query) => query.where('message_id', '<', Number(cursor)))
      .select(messageColumns)
      .orderBy('message_id', 'desc')
      .limit(pageSize + 1)
      .execute();
    const page = rows.slice(0, pageSize);
    return {
      deliveries: await toDeliveries(ctx.db, companyId, page),
      nextCursor: rows.length > pageSize ? String(page.at(-1)!.message_id) : null,
    };
  });
