import { sql } from 'kysely';
import { z } from 'zod';
import type { Db } from '../../../db/open.ts';
import { rest } from '../../kernel/operation.ts';
import { admin } from '../../kernel/procedures.ts';
import { noteWebhook } from './audited-webhook.ts';
import { checkUrl } from './check-url.ts';
import { WEBHOOK_LIMIT_REACHED } from './errors.ts';
import { toWebhook, webhookColumns } from './queries.ts';
import { webhookFields, WebhookWithSecret } from './schemas.ts';
import { createSealedSecret } from './secrets.ts';

const webhooksMax = 20;

export const createWebhook = admin('everything')
  .meta(
    rest('POST /api/webhooks/', {
      section: 'Additions',
      summary: 'Have events of the company posted to a URL',
      description:
        'From then on each event of the chosen types is posted there as JSON, signed as [Standard Webhooks](https://www.standardwebhooks.com) describes, at least once and in no promised order. The secret that signs is in this answer and never again. A company has at most 20 webhooks. The URL must lead to public addresses; a name that is not known yet is accepted, and is checked at each attempt.',
      errors: [WEBHOOK_LIMIT_REACHED],
      answersSecret: true,
      example: {
        url: 'https://hooks.example.com/work',
        events: ['comment.created', 'comment.edited'],
        description: 'Comments in our chat',
      },
    }),
  )
  .input(z.object(webhookFields))
  .output(WebhookWithSecret)
  .mutation(async ({ ctx, input }) => {
    const { companyId } = ctx.caller;
    const { clock, tokens, outbound } = ctx.services;
    await checkUrl(outbound, input.url);
    const { secret, sealed } = await createSealedSecret(tokens, companyId);
    const now = clock.now();
    await requirePlace(ctx.db, companyId);
    const row = await ctx.db
      .insertInto('webhooks')
      .values({
        company_id: companyId,
        url: input.url,
        description: input.description ?? null,
        events: [...new Set(input.events)],
        sealed_secret: sealed,
        created_at: now,
        updated_at: now,
      })
      .returning(webhookColumns)
      .executeTakeFirstOrThrow();
    noteWebhook(ctx.db, 'created', { after: row });
    return { ...toWebhook(row, now), secret };
  });

/** Throws if the company has all its webhooks. Simultaneous calls wait for each other, so together they stay within the limit. */
async function requirePlace(db: Db, companyId: number): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`webhooks of ${companyId}`}, 0))`.execute(db);
  const { count } = await db
    .selectFrom('webhooks')
    .where('company_id', '=', companyId)
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  if (count >= webhooksMax) throw WEBHOOK_LIMIT_REACHED();
}
