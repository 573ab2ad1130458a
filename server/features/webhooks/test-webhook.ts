import { z } from 'zod';
import { rest } from '../../kernel/operation.ts';
import { admin } from '../../kernel/procedures.ts';
import { idOf } from '../../kernel/wire/fields.ts';
import { messageColumns, toDeliveries } from './deliveries.ts';
import { WEBHOOK_DISABLED } from './errors.ts';
import { testEvent } from './event-types.ts';
import { lockWebhook } from './queries.ts';
import { WebhookDelivery } from './schemas.ts';

export const testWebhook = admin('everything')
  .meta(
    rest('POST /api/webhooks/{webhook_id}/test/', {
      section: 'Additions',
      summary: 'Send a test message to a webhook',
      description: `A message of the type \`${testEvent}\`, whatever its events are, sent and retried as any other. The answer says under which identifier; its deliveries show what came of it.`,
      errors: [WEBHOOK_DISABLED],
    }),
  )
  .input(z.object({ webhook_id: idOf('webhook') }))
  .output(WebhookDelivery)
  .mutation(async ({ ctx, input }) => {
    const { companyId, employeeId } = ctx.caller;
    const { clock, wakeWebhooks } = ctx.services;
    const webhook = await lockWebhook(ctx.db, companyId, input.webhook_id);
    if (!webhook.is_enabled) throw WEBHOOK_DISABLED();
    const now = clock.now();
    const message = await ctx.db
      .insertInto('webhook_messages')
      .values({
        company_id: companyId,
        webhook_id: webhook.webhook_id,
        type: testEvent,
        payload: JSON.stringify({ actorId: employeeId, webhookId: webhook.webhook_id }),
        at: now,
        due_at: now,
      })
      .returning(messageColumns)
      .executeTakeFirstOrThrow();
    ctx.afterCommit(wakeWebhooks);
    return (await toDeliveries(ctx.db, companyId, [message]))[0]!;
  });
