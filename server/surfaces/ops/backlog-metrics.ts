import { setTimeout as delay } from 'node:timers/promises';
import { Gauge, type Registry } from 'prom-client';

/** Far below the timeout of a scrape: while the database hangs, the other metrics matter most. */
const countWithinMs = 2_000;

type Named = { name: string; help: string };

/**
 * Registers gauges of what waits in the database, counted for all nodes: how many are in each state, and how long the
 * oldest has waited. While the database does not answer, both are left out.
 */
export function registerBacklog<State extends string>(
  registry: Registry,
  count: () => Promise<Record<State | 'oldestSeconds', number>>,
  { states, waiting, oldest }: { states: readonly State[]; waiting: Named; oldest: Named },
): void {
  const registers = [registry];
  const countInTime = countedOnce(count);
  // oxlint-disable-next-line no-new -- a gauge registers itself
  new Gauge({
    ...waiting,
    labelNames: ['state'] as const,
    registers,
    async collect() {
      this.reset();
      const counts = await countInTime();
      if (counts) for (const state of states) this.set({ state }, counts[state]);
    },
  });
  // oxlint-disable-next-line no-new -- a gauge registers itself
  new Gauge({
    ...oldest,
    registers,
    async collect() {
      const counts = await countInTime();
      if (counts) this.set(counts.oldestSeconds);
      else this.remove();
    },
  });
}

/**
 * Shares one count between simultaneous scrapes, and starts none while one hangs; undefined without an answer in time.
 */
function countedOnce<Counts>(count: () => Promise<Counts>): () => Promise<Counts | undefined> {
  let counting: Promise<Counts | undefined> | undefined;
  return () => {
    counting ??= count()
      .catch(() => undefined)
      .finally(() => (counting = undefined));
    return Promise.race([counting, delay(countWithinMs, undefined, { ref: false })]);
  };
}
