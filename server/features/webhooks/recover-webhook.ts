import { sql } from 'kysely';
import { z } from 'zod';
import { rest } from '../../kernel/operation.ts';
import { admin } from '../../kernel/procedures.ts';
import { idOf } from '../../kernel/wire/fields.ts';
import { timestamp } from '../../kernel/wire/moments.ts';
import { WEBHOOK_DISABLED } from './errors.ts';
import { lockWebhook } from './queries.ts';

const atOnce = 10_000;

export const recoverWebhook = admin('everything')
  .meta(
    rest('POST /api/webhooks/{webhook_id}/recover/', {
      section: 'Additions',
      summary: 'Send again what a webhook has not taken',
      description: `Messages of events since then that have failed for the last time are due again, with all attempts before them, at most ${atOnce} of them, the oldest first. Messages are kept for 30 days. What is pending is not touched.`,
      errors: [WEBHOOK_DISABLED],
      example: { since: '2026-03-01T00:00:00Z' },
    }),
  )
  .input(
    z.object({
      webhook_id: idOf('webhook'),
      since: timestamp.meta({ description: 'Events from this moment on', examples: ['2026-03-01T00:00:00Z'] }),
    }),
  )
  .output(z.object({ recovered: z.int().meta({ description: 'How many messages are due again', examples: [3] }) }))
  .mutation(async ({ ctx, input }) => {
    const { companyId } = ctx.caller;
    const { clock, wakeWebhooks } = ctx.services;
    const webhook = await lockWebhook(ctx.db, companyId, input.webhook_id);
    if (!webhook.is_enabled) throw WEBHOOK_DISABLED();
    const { rows } = await sql`
      with failed as materialized (
        select message_id from webhook_messages
        where company_id = ${companyId} and webhook_id = ${webhook.webhook_id} and state = 'failed' and at >= ${input.since}
        order by message_id limit ${atOnce} for update
      )
      update webhook_messages set state = 'pending', attempts = 0, due_at = ${clock.now()}
      where company_id = ${companyId} and message_id = any(array(select message_id from failed))
      returning 1`.execute(ctx.db);
    ctx.afterCommit(wakeWebhooks);
    return { recovered: rows.length };
  });
