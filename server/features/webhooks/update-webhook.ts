import { z } from 'zod';
import { rest } from '../../kernel/operation.ts';
import { admin } from '../../kernel/procedures.ts';
import { idOf, isEmptyUpdate } from '../../kernel/wire/fields.ts';
import { noteWebhook } from './audited-webhook.ts';
import { checkUrl } from './check-url.ts';
import { lockWebhook, toWebhook, updateOf, webhookColumns } from './queries.ts';
import { Webhook, webhookFields } from './schemas.ts';

export const updateWebhook = admin('everything')
  .meta(
    rest('PATCH /api/webhooks/{webhook_id}/', {
      section: 'Additions',
      summary: 'Change, disable or enable a webhook',
      description:
        'Fields left out keep their values. A disabled one gets no messages, and nothing is kept for it of what happens; what was pending before waits, and goes out when it is enabled again. Messages that are pending go to a new URL.',
      example: { description: 'Comments in the chat of the design team', isEnabled: true },
    }),
  )
  .input(
    z
      .object(webhookFields)
      .partial()
      .extend({
        webhook_id: idOf('webhook'),
        isEnabled: z.boolean().optional().meta({ description: 'Whether it receives messages' }),
      }),
  )
  .output(Webhook)
  .mutation(async ({ ctx, input }) => {
    const { url, events, description, isEnabled } = input;
    const { clock, outbound, wakeWebhooks } = ctx.services;
    if (url !== undefined) await checkUrl(outbound, url);
    const now = clock.now();
    const webhook = await lockWebhook(ctx.db, ctx.caller.companyId, input.webhook_id);
    if (isEmptyUpdate(input, 'webhook_id')) return toWebhook(webhook, now);
    // A new place has not failed yet, and neither has one that an admin enables again.
    const isNewPlace = url !== undefined && url !== webhook.url;
    const isStartedAgain = isEnabled === true && !webhook.is_enabled;
    const row = await updateOf(ctx.db, webhook)
      .set({
        url,
        events: events && [...new Set(events)],
        description,
        is_enabled: isEnabled,
        ...(isEnabled === undefined ? {} : { disabled_because: null }),
        ...(isNewPlace || isStartedAgain ? { failing_since: null } : {}),
        updated_at: now,
      })
      .returning(webhookColumns)
      .executeTakeFirstOrThrow();
    noteWebhook(ctx.db, 'updated', { before: webhook, after: row });
    if (isStartedAgain) ctx.afterCommit(wakeWebhooks);
    return toWebhook(row, now);
  });
