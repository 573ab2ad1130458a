import { sql, type Selectable } from 'kysely';
import type { z } from 'zod';
import type { Db } from '../../../db/open.ts';
import type { Schema } from '../../../db/schema.ts';
import { keptAttemptsMax, type deliveryStates, type WebhookDelivery } from './schemas.ts';

type Row = Omit<Selectable<Schema['webhook_messages']>, 'company_id' | 'payload' | 'attempts' | 'leased_until'>;
type AttemptRow = Omit<Selectable<Schema['webhook_attempts']>, 'company_id'>;

/** The columns of a WebhookDelivery. */
export const messageColumns = [
  'message_id',
  'webhook_id',
  'public_id',
  'type',
  'stream',
  'sequence',
  'at',
  'state',
  'due_at',
] as const;

/** Messages as deliveries, with their last attempts. */
export async function toDeliveries(
  db: Db,
  companyId: number,
  rows: readonly Row[],
): Promise<z.input<typeof WebhookDelivery>[]> {
  const { rows: attempts } = await sql<AttemptRow>`
    select a.* from unnest(${rows.map((row) => row.message_id)}::bigint[]) as m (message_id) cross join lateral (
      select message_id, attempt_id, at, duration_ms, status, error, answer from webhook_attempts
      where company_id = ${companyId} and message_id = m.message_id order by attempt_id desc limit ${keptAttemptsMax}
    ) as a
    order by a.attempt_id`.execute(db);
  const byMessage = Map.groupBy(attempts, (attempt) => attempt.message_id);
  return rows.map((row) => ({
    _id: row.message_id,
    webhookId: row.webhook_id,
    messageId: row.public_id,
    type: row.type,
    stream: row.stream,
    sequence: row.sequence,
    state: row.state as (typeof deliveryStates)[number],
    attempts: (byMessage.get(row.message_id) ?? []).map(({ at, duration_ms: durationMs, status, error, answer }) => ({
      at,
      durationMs,
      status,
      error,
      answer,
    })),
    nextAttemptAt: row.state === 'pending' ? row.due_at : null,
    createdAt: row.at,
  }));
}
