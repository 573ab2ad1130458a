import type { Queue } from '../kernel/job.ts';
import { createInterruptibleSleep } from '../platform/interruptible-sleep.ts';
import type { Log } from '../platform/log.ts';
import type { Attempts } from './attempts.ts';
import { createConcurrencyLimit } from './concurrency-limit.ts';
import type { Leases } from './leases.ts';

/** Runs the jobs of one queue. */
export type QueueRunner = {
  readonly queue: Queue;
  /** Takes jobs until it is stopped. */
  work(): Promise<void>;
  /** Starts as many jobs as the concurrency limit allows. */
  startJobs(): Promise<{ started: number; isFull: boolean }>;
  running(): Promise<void>[];
  wake(): void;
  /** Resolves when nothing runs any more. */
  stop(): Promise<void>;
};

/** The interval of reading the table without being woken, for retries and for jobs of a process that has died. */
const pollMs = 1_000;

export function createQueueRunner(
  queue: Queue,
  { leases, attempts, log }: { leases: Leases; attempts: Attempts; log: Log },
): QueueRunner {
  const limit = createConcurrencyLimit(queue);
  const sleep = createInterruptibleSleep();
  const stopping = new AbortController();
  let starting: Promise<unknown> = Promise.resolve();
  let loop: Promise<void> | undefined;

  /** Calls take leases one after another, so that together they stay within the limit. */
  function startJobs(): Promise<{ started: number; isFull: boolean }> {
    const mine = starting.then(async () => {
      const free = limit.free();
      const jobs = await leases.take(queue, free);
      const isFull = jobs.length >= free;
      for (const group of attempts.groupsOf(jobs)) limit.add(attempts.run(group, isFull));
      return { started: jobs.length, isFull };
    });
    starting = mine.catch(() => {});
    return mine;
  }

  async function loopUntilStopped(): Promise<void> {
    let isDatabaseAway = false;
    while (!stopping.signal.aborted) {
      sleep.forget();
      const outcome = await startJobs().catch((error: unknown) => {
        if (!isDatabaseAway) log.warn({ err: error, queue }, 'jobs wait: the database does not answer');
        isDatabaseAway = true;
        return undefined;
      });
      if (outcome && isDatabaseAway) {
        log.info({ queue }, 'jobs go on: the database answers again');
        isDatabaseAway = false;
      }
      if (outcome?.isFull === true) await limit.untilFree();
      else if (!stopping.signal.aborted) await sleep.take(pollMs);
    }
  }

  return {
    queue,
    work: () => (loop ??= loopUntilStopped()),
    startJobs,
    running: limit.running,
    wake: sleep.wake,
    async stop() {
      stopping.abort();
      sleep.wake();
      await loop;
      await starting;
      await Promise.all(limit.running());
    },
  };
}
