import type { Selectable } from 'kysely';
import type { z } from 'zod';
import type { Db } from '../../../db/open.ts';
import type { Schema } from '../../../db/schema.ts';
import { NOT_FOUND } from '../../errors/errors.ts';
import type { Webhook } from './schemas.ts';

export type WebhookRow = Omit<Selectable<Schema['webhooks']>, 'sealed_secret' | 'sealed_previous_secret'>;

/** The columns of a Webhook: none of its secrets. */
export const webhookColumns = [
  'company_id',
  'webhook_id',
  'url',
  'description',
  'events',
  'is_enabled',
  'disabled_because',
  'failing_since',
  'previous_secret_until',
  'created_at',
  'updated_at',
] as const;

export const fromWebhook = (db: Db, companyId: number, webhookId: number) =>
  db.selectFrom('webhooks').where('company_id', '=', companyId).where('webhook_id', '=', webhookId);

/** A webhook of the company, locked against changes. */
export async function lockWebhook(db: Db, companyId: number, webhookId: number): Promise<WebhookRow> {
  return fromWebhook(db, companyId, webhookId)
    .select(webhookColumns)
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow(() => NOT_FOUND());
}

/** The webhook as an update of it, which `returning(webhookColumns)` answers. */
export const updateOf = (db: Db, { company_id, webhook_id }: Pick<WebhookRow, 'company_id' | 'webhook_id'>) =>
  db.updateTable('webhooks').where('company_id', '=', company_id).where('webhook_id', '=', webhook_id);

export function toWebhook(row: WebhookRow, now: Date): z.input<typeof Webhook> {
  const { previous_secret_until: until } = row;
  return {
    _id: row.webhook_id,
    companyId: row.company_id,
    url: row.url,
    events: row.events,
    description: row.description,
    isEnabled: row.is_enabled,
    disabledBecause: row.disabled_because as 'gone' | 'failing' | null,
    failingSince: row.failing_since,
    previousSecretUntil: until !== null && until > now ? until : null,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
