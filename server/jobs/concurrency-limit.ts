import { setImmediate as tick, setTimeout as delay } from 'node:timers/promises';
import type { Queue } from '../kernel/job.ts';

/**
 * How many jobs of one queue run at once. A slot is free as soon as its job ends.
 *
 * Mail is sent one message at a time while the provider is quick. If a process is killed, nobody knows whether the
 * message in transit has arrived, so it is sent again; a message that was not started is never duplicated.
 */
export type ConcurrencyLimit = {
  /** How many jobs may start now. */
  free(): number;
  add(job: Promise<void>): void;
  /** Resolves when another job may start. */
  untilFree(): Promise<void>;
  running(): Promise<void>[];
};

/** Leaves database connections to requests, and lets other jobs run when some hang. */
const slots = 10;
/** A mail that takes longer no longer delays the next one. */
const slowMs = 500;

export function createConcurrencyLimit(queue: Queue): ConcurrencyLimit {
  const startedAt = new Map<Promise<void>, number>();

  /** The time until every running mail counts as slow. */
  const untilSlowMs = (): number =>
    startedAt.size === 0 ? 0 : Math.max(0, Math.max(...startedAt.values()) + slowMs - performance.now());

  function free(): number {
    const left = slots - startedAt.size;
    if (queue !== 'mail' || left === 0) return left;
    return untilSlowMs() === 0 ? 1 : 0;
  }

  return {
    free,
    add(job) {
      const running = job.finally(() => startedAt.delete(running));
      startedAt.set(running, performance.now());
    },
    async untilFree() {
      if (free() > 0) return;
      const over = new AbortController();
      const waits: Promise<unknown>[] = [...startedAt.keys()];
      if (startedAt.size < slots) waits.push(delay(untilSlowMs(), undefined, { signal: over.signal }).catch(() => {}));
      await Promise.race(waits);
      over.abort();
      // Jobs that end together cause one query.
      await tick();
    },
    running: () => [...startedAt.keys()],
  };
}
