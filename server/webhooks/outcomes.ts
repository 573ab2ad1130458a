import { sql } from 'kysely';
import type { Db } from '../../db/open.ts';
import { keptAttemptsMax } from '../features/webhooks/schemas.ts';
import type { ClaimedMessage } from './claims.ts';

/** The most older attempts of a message that are deleted with one outcome. */
const deletedMax = 100;

/** What an attempt did, for the list of deliveries. */
export type Attempt = {
  at: Date;
  durationMs: number;
  status: number | null;
  error: string | null;
  answer: string | null;
};

/** What becomes of the message: it was delivered, is retried, or has failed for the last time. */
export type Outcome = { state: 'delivered' } | { state: 'pending'; dueAt: Date } | { state: 'failed' };

/**
 * Writes the outcome of an attempt, whose lease must still be this process's, and keeps only the last attempts of the message.
 * Returns since when the URL that was asked has failed; null where the webhook has another one by now, of which the answer says
 * nothing. The webhook is locked against its deletion first: that takes the same locks in this order.
 */
export async function writeOutcome(
  db: Db,
  { companyId, webhookId, messageId, attempt, url }: ClaimedMessage,
  { at, durationMs, status, error, answer }: Attempt,
  outcome: Outcome,
): Promise<{ failingSince: Date | null }> {
  const isDelivered = outcome.state === 'delivered';
  const dueAt = outcome.state === 'pending' ? outcome.dueAt : null;
  const { rows } = await sql<{ failingSince: Date | null }>`
    with endpoint as materialized (
      select company_id, webhook_id, case when url = ${url} then failing_since end as failing_since from webhooks
      where company_id = ${companyId} and webhook_id = ${webhookId} for key share
    ), message as (
      update webhook_messages as m
      set state = ${outcome.state}, due_at = coalesce(${dueAt}::timestamptz, due_at), leased_until = null
      from endpoint as e
      where m.company_id = ${companyId} and m.message_id = ${messageId} and m.webhook_id = e.webhook_id
        and m.attempts = ${attempt} and m.leased_until is not null
      returning m.message_id, e.webhook_id, e.failing_since
    ), attempt as (
      insert into webhook_attempts (company_id, message_id, at, duration_ms, status, error, answer)
      select ${companyId}, message_id, ${at}, ${durationMs}, ${status}::integer, ${error}::text, ${answer}::text from message
    ), older as (
      delete from webhook_attempts
      where company_id = ${companyId} and message_id = ${messageId} and exists (select from message)
        and attempt_id = any(array(
          select attempt_id from webhook_attempts where company_id = ${companyId} and message_id = ${messageId}
          order by attempt_id desc limit ${deletedMax} offset ${keptAttemptsMax - 1}
        ))
    ), changed as (
      update webhooks as w set failing_since = case when ${isDelivered} then null else ${at}::timestamptz end
      from message
      where w.company_id = ${companyId} and w.webhook_id = message.webhook_id
        and w.url = ${url} and (w.failing_since is not null) = ${isDelivered}
    )
    select failing_since as "failingSince" from message`.execute(db);
  return rows[0] ?? { failingSince: null };
}

/** Gives messages back whose attempts were broken off, so that another process sends them at once. */
export async function releaseMessage(db: Db, { companyId, messageId, attempt }: ClaimedMessage): Promise<void> {
  await sql`
    update webhook_messages set leased_until = null, attempts = attempts - 1
    where company_id = ${companyId} and message_id = ${messageId} and attempts = ${attempt}
      and state = 'pending' and leased_until is not null`.execute(db);
}
