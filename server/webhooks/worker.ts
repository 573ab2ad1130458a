import { createInterruptibleSleep } from '../platform/interruptible-sleep.ts';
import { countMessages, type MessageCounts } from './count-messages.ts';
import type { DeliveryServices } from './deliver.ts';
import { createDueMessages, type AttemptCount } from './due-messages.ts';

/*
 * Webhooks. The statement that writes an event also writes a message for each webhook of the company that wants its type
 * (server/kernel/append-event.ts); the worker of any node leases it, posts it, and writes what came of it. A message that is not
 * taken is retried for three days, and has failed then, until an admin has it sent again.
 *
 * Invariants:
 * - A message exists if and only if the transaction of its event committed. It is sent at least once, under one identifier.
 *   It is sent twice only where a process dies, or the database stays away, between the answer and the outcome.
 * - A message is sent by one process at a time. Its lease is longer than an attempt takes, so it is not renewed, and `attempts`
 *   tells one lease from the next.
 * - An endpoint has at most four requests in flight, in all processes together, and one where its last attempt failed. Endpoints
 *   take turns, so neither many messages nor a slow receiver delay the messages of others.
 * - Nothing here waits for the outbox or for the pools of requests, nor they for this: an attempt holds a socket and no
 *   connection to the database.
 */
export type WebhookWorker = {
  start(): void;
  /** Looks for due messages soon. */
  wake(): void;
  /** Sends messages until none is due, for tests. */
  drain(): Promise<void>;
  /** The attempts of this process by outcome. */
  countAttempts(): AttemptCount[];
  /** The messages of all nodes. */
  countMessages(): Promise<MessageCounts>;
  stop(): Promise<void>;
};

/** The interval of looking without being woken, for retries and for messages of other nodes. */
const pollMs = 1_000;

export function createWebhookWorker(services: DeliveryServices): WebhookWorker {
  const { database, clock, log } = services;
  const sleep = createInterruptibleSleep();
  const messages = createDueMessages(services, sleep.wake);
  const stopping = new AbortController();
  let loop: Promise<void> | undefined;

  async function loopUntilStopped(): Promise<void> {
    let isDatabaseAway = false;
    while (!stopping.signal.aborted) {
      sleep.forget();
      try {
        await messages.start();
        if (isDatabaseAway) log.info({}, 'webhooks go on: the database answers again');
        isDatabaseAway = false;
      } catch (error) {
        if (!isDatabaseAway) log.warn({ err: error }, 'webhooks wait: the database does not answer');
        isDatabaseAway = true;
      }
      if (!stopping.signal.aborted) await sleep.take(pollMs);
    }
  }

  return {
    start: () => void (loop ??= loopUntilStopped()),
    wake: sleep.wake,
    async drain() {
      while (!stopping.signal.aborted) {
        const started = await messages.start();
        const running = messages.running();
        if (started === 0 && running.length === 0) return;
        await Promise.all(running);
      }
    },
    countAttempts: messages.countAttempts,
    countMessages: () => countMessages(database.acrossCompanies.db, clock.now()),
    async stop() {
      stopping.abort();
      sleep.wake();
      await loop;
      await messages.stop();
    },
  };
}
