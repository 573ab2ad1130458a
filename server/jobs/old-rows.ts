import { sql } from 'kysely';
import type { Db } from '../../db/open.ts';
import { deviceLifetimeMs } from '../features/auth/devices.ts';
import { invitationMailLifetimeMs } from '../features/memberships/mail-limits.ts';
import { answerLifetimeMs } from '../kernel/idempotency.ts';

const dayMs = 24 * 3600 * 1000;
/** A subscriber may be disconnected this long and still receive every event it missed. */
const eventLifetimeMs = 7 * dayMs;
/** Longer than jobs are retried, and than days differ between two time zones. */
const morningLifetimeMs = 7 * dayMs;
/** Ended sessions are stored for investigations. */
const endedSessionLifetimeMs = 30 * dayMs;
/** Messages for webhooks and their attempts are shown, and can be sent again, for as long. */
const webhookMessageLifetimeMs = 30 * dayMs;
/** Expired grants of OAuth clients are shown among the keys of their employee for as long. */
const expiredGrantLifetimeMs = 7 * dayMs;
/** Identity tokens are accepted for a moment after they expire, because clocks differ. */
const identityTokenLeewayMs = 3_600_000;

/** Small, so that no batch delays requests for long. */
export const batchSize = 500;

/** Rows are deleted once `column`, an SQL expression, is `lifetimeMs` in the past. */
export type Rule = { table: string; key: string[]; column: string; lifetimeMs: number };

export const rules: Rule[] = [
  { table: 'one_time_codes', key: ['email', 'purpose'], column: 'expires_at', lifetimeMs: 0 },
  { table: 'one_time_tokens', key: ['token_hash'], column: 'expires_at', lifetimeMs: 0 },
  { table: 'used_identity_tokens', key: ['token_hash'], column: 'expires_at', lifetimeMs: identityTokenLeewayMs },
  {
    table: 'account_devices',
    key: ['account_id', 'device', 'network'],
    column: 'last_seen_at',
    lifetimeMs: deviceLifetimeMs,
  },
  { table: 'apple_claims', key: ['subject', 'account_id'], column: 'expires_at', lifetimeMs: 0 },
  { table: 'oauth_clients', key: ['client_id'], column: 'expires_at', lifetimeMs: 0 },
  // What an OAuth client was granted and did not fetch, or no longer renews. Keys that people made stay in their list.
  {
    table: 'api_keys',
    key: ['company_id', 'api_key_id'],
    column: 'case when client_id is not null then expires_at end',
    lifetimeMs: expiredGrantLifetimeMs,
  },
  { table: 'idempotent_answers', key: ['key_hash'], column: 'created_at', lifetimeMs: answerLifetimeMs },
  { table: 'mention_mails', key: ['company_id', 'address_hash', 'is_invited'], column: 'ends_at', lifetimeMs: 0 },
  {
    table: 'invitation_mails',
    key: ['company_id', 'mail_id'],
    column: 'mailed_at',
    lifetimeMs: invitationMailLifetimeMs,
  },
  { table: 'events', key: ['company_id', 'stream', 'sequence'], column: 'at', lifetimeMs: eventLifetimeMs },
  {
    table: 'webhook_attempts',
    key: ['company_id', 'message_id', 'attempt_id'],
    column: 'at',
    lifetimeMs: webhookMessageLifetimeMs,
  },
  { table: 'webhook_messages', key: ['company_id', 'message_id'], column: 'at', lifetimeMs: webhookMessageLifetimeMs },
  { table: 'exports', key: ['company_id', 'export_id'], column: 'expires_at', lifetimeMs: 0 },
  { table: 'company_mornings', key: ['company_id', 'day'], column: 'created_at', lifetimeMs: morningLifetimeMs },
  {
    table: 'sessions',
    key: ['session_id'],
    column: 'least(ended_at, expires_at)',
    lifetimeMs: endedSessionLifetimeMs,
  },
];

/**
 * Deletes one batch; returns how many rows it held. The batch is a materialized CTE, because a plan may run a subquery of the
 * condition once for each row of the table, and then deletes more than one batch.
 */
export async function deleteBatch(db: Db, { table, key, column, lifetimeMs }: Rule, now: Date): Promise<number> {
  const columnsOf = (name: string) => sql.join(key.map((part) => sql.ref(`${name}.${part}`)));
  const { rows } = await sql`
    with batch as materialized (
      select ${columnsOf(table)} from ${sql.table(table)}
      where ${sql.raw(column)} <= ${new Date(now.getTime() - lifetimeMs)}
      limit ${batchSize} for update skip locked
    )
    delete from ${sql.table(table)} as old using batch where (${columnsOf('old')}) = (${columnsOf('batch')})
    returning 1`.execute(db);
  return rows.length;
}
