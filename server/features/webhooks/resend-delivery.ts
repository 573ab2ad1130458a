import { sql } from 'kysely';
import { z } from 'zod';
import { NOT_FOUND } from '../../errors/errors.ts';
import { rest } from '../../kernel/operation.ts';
import { admin } from '../../kernel/procedures.ts';
import { idOf } from '../../kernel/wire/fields.ts';
import { messageColumns, toDeliveries } from './deliveries.ts';
import { WEBHOOK_DISABLED } from './errors.ts';
import { WebhookDelivery } from './schemas.ts';

export const resendDelivery = admin('everything')
  .meta(
    rest('POST /api/webhook-deliveries/{delivery_id}/resend/', {
      section: 'Additions',
      summary: 'Send a message of a webhook again',
      description:
        'Also one that was delivered. It goes out under the same `webhook-id`, now, and is retried as a new one. One that is being sent at this moment is left alone.',
      errors: [WEBHOOK_DISABLED],
    }),
  )
  .input(z.object({ delivery_id: idOf('webhookDelivery') }))
  .output(WebhookDelivery)
  .mutation(async ({ ctx, input }) => {
    const { companyId } = ctx.caller;
    const { clock, wakeWebhooks } = ctx.services;
    const now = clock.now();
    const found = await ctx.db
      .selectFrom('webhook_messages as m')
      .innerJoin('webhooks as w', (join) =>
        join.onRef('w.company_id', '=', 'm.company_id').onRef('w.webhook_id', '=', 'm.webhook_id'),
      )
      .where('m.company_id', '=', companyId)
      .where('m.message_id', '=', input.delivery_id)
      .select('w.is_enabled')
      .executeTakeFirstOrThrow(() => NOT_FOUND());
    if (!found.is_enabled) throw WEBHOOK_DISABLED();
    const isBeingSent = sql<boolean>`state = 'pending' and leased_until > ${now}`;
    const row = await ctx.db
      .updateTable('webhook_messages')
      .set({
        state: 'pending',
        attempts: sql`case when ${isBeingSent} then attempts else 0 end`,
        due_at: sql`case when ${isBeingSent} then due_at else ${now} end`,
        leased_until: sql`case when ${isBeingSent} then leased_until end`,
      })
      .where('company_id', '=', companyId)
      .where('message_id', '=', input.delivery_id)
      .returning(messageColumns)
      .executeTakeFirstOrThrow(() => NOT_FOUND());
    ctx.afterCommit(wakeWebhooks);
    return (await toDeliveries(ctx.db, companyId, [row]))[0]!;
  });
