import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import type { AnyReaction, ReactionServices } from '../kernel/reaction.ts';

/**
 * Runs deliveries: takes a lease on those that are due, runs their reactions, and removes what is done.
 * A worker that dies leaves its lease to run out, and another one takes over. Several nodes share the work.
 */
export type Worker = {
  start(): void;
  /** Looks at once: something was written. */
  wake(): void;
  /** Runs until nothing is due any more, for tests and for shutdown. */
  drain(): Promise<void>;
  stop(): Promise<void>;
};

const leaseMs = 60_000;
const batchSize = 20;
/** How often to look without being woken: for retries, and for what other nodes left behind. */
const pollMs = 1_000;
/** Tries before a delivery is parked: with the waits below, about a day. */
const attemptsMax = 12;

type Leased = {
  delivery_id: number;
  reaction: string;
  dedupe_key: string;
  payload: unknown;
  attempts: number;
  created_at: Date;
};

/** Seconds to wait after the given number of failures: doubling from 2 s to 4 h, with jitter so that retries spread out. */
function backoffMs(attempts: number): number {
  return Math.min(2_000 * 2 ** (attempts - 1), 4 * 3_600_000) * (0.75 + Math.random() / 2);
}

export function createWorker(services: ReactionServices, reactions: AnyReaction[]): Worker {
  const { database, clock, log } = services;
  const byName = new Map(reactions.map((one) => [one.name, one]));
  const stopping = new AbortController();
  let wanted = false;
  let nap: AbortController | undefined;
  let loop: Promise<void> | undefined;
  let rounds: Promise<unknown> = Promise.resolve();

  async function lease(): Promise<Leased[]> {
    const now = clock.now();
    const { rows } = await sql<Leased>`
      update deliveries set leased_until = ${new Date(now.getTime() + leaseMs)}, attempts = attempts + 1
      where delivery_id in (
        select delivery_id from deliveries
        where parked_at is null and due_at <= ${now} and (leased_until is null or leased_until < ${now})
        order by due_at, delivery_id limit ${batchSize} for update skip locked
      )
      returning delivery_id, reaction, dedupe_key, payload, attempts, created_at`.execute(database.db);
    return rows.toSorted((a, b) => a.delivery_id - b.delivery_id);
  }

  async function run(leased: Leased): Promise<void> {
    const { delivery_id: deliveryId, reaction: name, dedupe_key: dedupeKey, attempts, created_at: createdAt } = leased;
    try {
      const reaction = byName.get(name);
      if (!reaction) throw new Error(`no reaction is called ${name}`);
      await reaction.run(services, leased.payload, { dedupeKey, createdAt });
      await database.db.deleteFrom('deliveries').where('delivery_id', '=', deliveryId).execute();
    } catch (error) {
      const isLast = attempts >= attemptsMax;
      const message = error instanceof Error ? error.message : String(error);
      log.warn(
        { err: error, reaction: name, deliveryId, attempts, parked: isLast },
        isLast ? 'a delivery was parked' : 'a delivery failed and will be tried again',
      );
      await database.db
        .updateTable('deliveries')
        .set({
          leased_until: null,
          last_error: message.slice(0, 500),
          due_at: new Date(clock.now().getTime() + backoffMs(attempts)),
          parked_at: isLast ? clock.now() : null,
        })
        .where('delivery_id', '=', deliveryId)
        .execute();
    }
  }

  /** One round at a time, so that draining means what it says. */
  function round(): Promise<number> {
    const mine = rounds.then(async () => {
      const leased = await lease();
      await Promise.all(leased.map(run));
      return leased.length;
    });
    rounds = mine.catch(() => {});
    return mine;
  }

  async function drain(): Promise<void> {
    while (!stopping.signal.aborted && (await round()) > 0);
  }

  async function work(): Promise<void> {
    while (!stopping.signal.aborted) {
      wanted = false;
      await drain().catch((error: unknown) =>
        log.warn({ err: error }, 'deliveries wait: the database does not answer'),
      );
      if (wanted || stopping.signal.aborted) continue;
      nap = new AbortController();
      await delay(pollMs, undefined, { signal: nap.signal }).catch(() => {});
    }
  }

  return {
    start: () => void (loop ??= work()),
    wake() {
      // Not at once: the answer goes first, and how long a delivery takes must not show in the next one's time.
      setTimeout(
        () => {
          wanted = true;
          nap?.abort();
        },
        20 + Math.random() * 60,
      ).unref();
    },
    drain,
    async stop() {
      stopping.abort();
      nap?.abort();
      await loop;
      await rounds;
    },
  };
}
