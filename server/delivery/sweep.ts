import { setTimeout as delay } from 'node:timers/promises';
import { sql, type RawBuilder } from 'kysely';
import type { Database } from '../../db/open.ts';
import type { Clock, Log } from '../kernel/context.ts';
import { deviceLifetimeMs } from '../features/auth/note-sign-in.ts';
import { answerLifetimeMs } from '../kernel/idempotency.ts';

/**
 * Deletes rows that have served their time: used-up proofs, answers too old to be repeated, events too old to be
 * replayed, sessions long over. Any number of nodes may sweep at once: what one deletes, the others skip.
 */
export type Sweep = {
  start(): void;
  /** Sweeps once; answers how many rows went, by table. */
  run(): Promise<Record<string, number>>;
  stop(): Promise<void>;
};

const dayMs = 24 * 3600 * 1000;
/** How long a subscriber may have been away and still get exactly what it missed. */
const eventLifetimeMs = 7 * dayMs;
/** Longer than deliveries are tried, and than days of two time zones are apart. */
const morningLifetimeMs = 7 * dayMs;
/** Ended sessions are kept a while for whoever looks into what happened. */
const sessionAfterlifeMs = 30 * dayMs;

/** Identity tokens are taken for a moment after their expiry, for clocks differ. */
const identityTokenLeewayMs = 3_600_000;

/** Small, so that no batch holds up the requests of others for long. */
const batchSize = 500;
const intervalMs = 3_600_000;
/** The first sweep leaves the start alone. */
const firstAfterMs = 60_000;

/** One batch of each kind; all answer one row for each that they deleted. */
const batches: Record<string, (now: Date) => RawBuilder<unknown>> = {
  one_time_codes: (now) => sql`
    delete from one_time_codes where (email, purpose) in (
      select email, purpose from one_time_codes where expires_at <= ${now}
      limit ${batchSize} for update skip locked)
    returning 1`,
  one_time_tokens: (now) => sql`
    delete from one_time_tokens where token_hash in (
      select token_hash from one_time_tokens where expires_at <= ${now}
      limit ${batchSize} for update skip locked)
    returning 1`,
  used_identity_tokens: (now) => sql`
    delete from used_identity_tokens where token_hash in (
      select token_hash from used_identity_tokens where expires_at <= ${before(now, identityTokenLeewayMs)}
      limit ${batchSize} for update skip locked)
    returning 1`,
  account_devices: (now) => sql`
    delete from account_devices where (account_id, device, network) in (
      select account_id, device, network from account_devices where last_seen_at <= ${before(now, deviceLifetimeMs)}
      limit ${batchSize} for update skip locked)
    returning 1`,
  apple_claims: (now) => sql`
    delete from apple_claims where (subject, account_id) in (
      select subject, account_id from apple_claims where expires_at <= ${now}
      limit ${batchSize} for update skip locked)
    returning 1`,
  idempotent_answers: (now) => sql`
    delete from idempotent_answers where key_hash in (
      select key_hash from idempotent_answers where created_at <= ${before(now, answerLifetimeMs)}
      limit ${batchSize} for update skip locked)
    returning 1`,
  events: (now) => sql`
    delete from events where (company_id, stream, sequence) in (
      select company_id, stream, sequence from events where at <= ${before(now, eventLifetimeMs)}
      limit ${batchSize} for update skip locked)
    returning 1`,
  company_mornings: (now) => sql`
    delete from company_mornings where (company_id, day) in (
      select company_id, day from company_mornings where created_at <= ${before(now, morningLifetimeMs)}
      limit ${batchSize} for update skip locked)
    returning 1`,
  sessions: (now) => sql`
    delete from sessions where session_id in (
      select session_id from sessions where least(ended_at, expires_at) <= ${before(now, sessionAfterlifeMs)}
      limit ${batchSize} for update skip locked)
    returning 1`,
};

const before = (now: Date, ms: number): Date => new Date(now.getTime() - ms);

export function createSweep({ database, clock, log }: { database: Database; clock: Clock; log: Log }): Sweep {
  const stopping = new AbortController();
  let loop: Promise<void> | undefined;

  async function run(): Promise<Record<string, number>> {
    const now = clock.now();
    const deleted: Record<string, number> = {};
    for (const [table, batch] of Object.entries(batches)) {
      let rows: number;
      do {
        rows = (await batch(now).execute(database.acrossCompanies.db)).rows.length;
        deleted[table] = (deleted[table] ?? 0) + rows;
      } while (rows === batchSize && !stopping.signal.aborted);
    }
    // A server does this by itself. The embedded database does not, and without statistics it plans badly.
    if (database.kind === 'embedded') await sql`vacuum (analyze)`.execute(database.owner.db);
    return deleted;
  }

  async function work(): Promise<void> {
    let waitMs = firstAfterMs;
    while (!stopping.signal.aborted) {
      await delay(waitMs, undefined, { signal: stopping.signal }).catch(() => {});
      if (stopping.signal.aborted) return;
      await run().then(
        (deleted) => log.debug({ deleted }, 'old rows were swept'),
        (error: unknown) => log.warn({ err: error }, 'old rows were not swept; next try in an hour'),
      );
      waitMs = intervalMs;
    }
  }

  return {
    start: () => void (loop ??= work()),
    run,
    async stop() {
      stopping.abort();
      await loop;
    },
  };
}
