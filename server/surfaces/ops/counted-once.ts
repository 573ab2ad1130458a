import { setTimeout as delay } from 'node:timers/promises';

/** Far below the timeout of a scrape: while the database hangs, the other metrics matter most. */
const countWithinMs = 2_000;

/**
 * Shares one count between simultaneous scrapes, and starts none while one hangs; undefined without an answer in time.
 */
export function countedOnce<Counts>(count: () => Promise<Counts>): () => Promise<Counts | undefined> {
  let counting: Promise<Counts | undefined> | undefined;
  return () => {
    counting ??= count()
      .catch(() => undefined)
      .finally(() => (counting = undefined));
    return Promise.race([counting, delay(countWithinMs, undefined, { ref: false })]);
  };
}
