import { claimMessages, findDueEndpoints, type ClaimedMessage, type Endpoint } from './claims.ts';
import { createDelivery, type DeliveryOutcome, type DeliveryServices } from './deliver.ts';

export type AttemptCount = { outcome: DeliveryOutcome; count: number };

/** The messages that this process sends. */
export type DueMessages = {
  /** Starts what is due and finds a slot, in one round of the circle of endpoints; returns how many. */
  start(): Promise<number>;
  running(): Promise<void>[];
  /** The attempts so far by outcome. */
  countAttempts(): AttemptCount[];
  /** Waits a while for the answers that are on their way, and releases the other messages. */
  stop(): Promise<void>;
};

/** Requests in flight of this process: each takes a socket and a message. */
const slotsMax = 256;
const stopWithinMs = 5_000;

/** `ended` is called after each attempt, when its endpoint may take another message. */
export function createDueMessages(services: DeliveryServices, ended: () => void, slots = slotsMax): DueMessages {
  const { database, clock, log } = services;
  const deliver = createDelivery(services);
  const aborting = new AbortController();
  const running = new Set<Promise<void>>();
  const counts = new Map<DeliveryOutcome, number>();
  /** Where the next look goes on in the circle; undefined for its beginning. */
  let after: Endpoint | undefined;

  async function attempt(message: ClaimedMessage): Promise<void> {
    try {
      const outcome = await deliver(message, aborting.signal);
      counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
    } catch (error) {
      const { companyId, messageId } = message;
      log.warn({ err: error, companyId, messageId }, 'the outcome of a webhook could not be written: it is sent again');
    }
  }

  function run(message: ClaimedMessage): void {
    const one = attempt(message).finally(() => {
      running.delete(one);
      ended();
    });
    running.add(one);
  }

  return {
    async start() {
      const now = clock.now();
      let started = 0;
      for (let rounds = after ? 0 : 1; rounds < 2 && running.size < slots;) {
        const { due, next } = await findDueEndpoints(database.acrossCompanies.db, now, after);
        const count = slots - running.size;
        // Each of these gets at least one; the next look begins behind the last of them.
        const endpoints = due.slice(0, count);
        const messages = endpoints.length === 0 ? [] : await claimMessages(database, endpoints, { count, now });
        for (const message of messages) run(message);
        started += messages.length;
        after = endpoints.length === due.length ? next : endpoints.at(-1);
        if (!after) rounds += 1;
      }
      return started;
    },
    running: () => [...running],
    countAttempts: () => [...counts].map(([outcome, count]) => ({ outcome, count })),
    async stop() {
      const timer = setTimeout(() => aborting.abort(), stopWithinMs);
      await Promise.all(running);
      clearTimeout(timer);
    },
  };
}
