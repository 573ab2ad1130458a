import { z } from 'zod';
import { NOT_FOUND } from '../../errors/errors.ts';
import { rest } from '../../kernel/operation.ts';
import { admin } from '../../kernel/procedures.ts';
import { idOf } from '../../kernel/wire/fields.ts';
import { createWebhookSigner } from '../../platform/webhook-signature.ts';
import { toWebhook, webhookColumns } from './queries.ts';
import { Webhook } from './schemas.ts';

export const listWebhooks = admin('everything')
  .meta(
    rest('GET /api/webhooks/company/{company_id}/', {
      section: 'Additions',
      summary: "The company's webhooks, and the public keys of the service",
      description:
        'The newest first. `publicKeys` check the signatures `v1a` of all messages of this service, where a receiver should not hold a secret. While the operator rotates the keys there are several, and messages are signed by each.',
    }),
  )
  .input(z.object({ company_id: idOf('company') }))
  .output(
    z.object({
      webhooks: z.array(Webhook).meta({ description: 'The webhooks, the newest first' }),
      publicKeys: z.array(z.string()).meta({
        description: 'Ed25519 keys of the service: `whpk_` and 32 bytes in base64',
        examples: [['whpk_6zJ8jEBCzX8JzX5sYp1rMvQ4l0n6m8rB0m6oQdL0m3k=']],
      }),
    }),
  )
  .query(async ({ ctx, input }) => {
    const { companyId } = ctx.caller;
    if (input.company_id !== companyId) throw NOT_FOUND();
    const { clock, tokens } = ctx.services;
    const rows = await ctx.db
      .selectFrom('webhooks')
      .where('company_id', '=', companyId)
      .select(webhookColumns)
      .orderBy('webhook_id', 'desc')
      .execute();
    const now = clock.now();
    return { webhooks: rows.map((row) => toWebhook(row, now)), publicKeys: createWebhookSigner(tokens).publicKeys };
  });
