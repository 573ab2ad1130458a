import { z } from 'zod';
import { NOT_FOUND } from '../../errors/errors.ts';
import { rest } from '../../kernel/operation.ts';
import { admin } from '../../kernel/procedures.ts';
import { idOf } from '../../kernel/wire/fields.ts';
import { noteRotation } from './audited-webhook.ts';
import { toWebhook, updateOf, webhookColumns } from './queries.ts';
import { WebhookWithSecret } from './schemas.ts';
import { createSealedSecret, previousSecretLifetimeMs } from './secrets.ts';

export const rotateSecret = admin('everything')
  .meta(
    rest('POST /api/webhooks/{webhook_id}/rotate-secret/', {
      section: 'Additions',
      summary: 'Give a webhook another secret',
      description:
        'The new secret is in this answer and never again. For 24 hours both secrets sign, so that a receiver can take the new one over; a second rotation in this time ends the oldest at once.',
      answersSecret: true,
    }),
  )
  .input(z.object({ webhook_id: idOf('webhook') }))
  .output(WebhookWithSecret)
  .mutation(async ({ ctx, input }) => {
    const { companyId } = ctx.caller;
    const { clock, tokens } = ctx.services;
    const { secret, sealed } = await createSealedSecret(tokens, companyId);
    const now = clock.now();
    const row = await updateOf(ctx.db, { company_id: companyId, webhook_id: input.webhook_id })
      .set(({ ref }) => ({
        sealed_secret: sealed,
        sealed_previous_secret: ref('sealed_secret'),
        previous_secret_until: new Date(now.getTime() + previousSecretLifetimeMs),
        updated_at: now,
      }))
      .returning(webhookColumns)
      .executeTakeFirstOrThrow(() => NOT_FOUND());
    noteRotation(ctx.db, row);
    return { ...toWebhook(row, now), secret };
  });
