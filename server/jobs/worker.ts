import { queues, type AnyJobHandler, type JobServices } from '../kernel/job.ts';
import { createAttempts, type AttemptCount } from './attempts.ts';
import { countJobs, type JobCounts } from './count-jobs.ts';
import { createLeases, type LeaseTimes } from './leases.ts';
import { createQueueRunner } from './queue-runner.ts';

/*
 * The outbox. `enqueueJob` (server/kernel/job.ts) inserts a job in the transaction of its cause; the worker of any node
 * leases it, calls its handler, and deletes it. A job that fails is retried with a growing delay for about a day, then
 * dead-lettered: it stays in the table until an operator requeues it (`npm run jobs`).
 *
 * Invariants:
 * - A job exists if and only if its transaction committed, and is deleted only after its handler succeeded.
 * - A handler runs at least once for each job. It runs twice only where a process dies or the database stays away between
 *   the effect and the deletion, so handlers are idempotent and mail carries the job's key.
 * - A job runs in one process at a time: the lease is taken under a row lock, renewed while the job runs, and mail is sent
 *   only while enough of it is left. `attempts` tells one lease of a job from the next.
 * - Queues share nothing but the database, so mail that a provider does not take delays no other job.
 * - Companies take turns within a queue, so a company with many jobs delays nobody else's.
 * - Waiting jobs of one kind and company may be run as a batch. Where it fails each is run alone, and one that has failed is
 *   retried alone.
 * - A payload holds identifiers and no secret.
 */
export type Worker = {
  start(): void;
  /** Reads the table soon: a job was enqueued. */
  wake(): void;
  /** Runs jobs until none is due, for tests and for the demo. */
  drain(): Promise<void>;
  /** The attempts of this process by handler and outcome. */
  countAttempts(): AttemptCount[];
  /** The jobs of all nodes by state. */
  countJobs(): Promise<JobCounts>;
  stop(): Promise<void>;
};

/** A killed process delays its jobs by this lease. A mail must be sent within the part of it that renewals leave. */
const defaultTimes: LeaseTimes = { leaseMs: 20_000, renewMs: 5_000 };
/**
 * Wakes after the answer is sent, at a random moment, so that the cost of a job does not show in the time of another
 * answer.
 */
const wakeAfterMs = { min: 20, max: 80 };

export function createWorker(services: JobServices, handlers: AnyJobHandler[], times = defaultTimes): Worker {
  const leases = createLeases(services, times);
  const attempts = createAttempts(services, handlers, leases);
  const runners = queues.map((queue) => createQueueRunner(queue, { leases, attempts, log: services.log }));
  const stopping = new AbortController();
  let waking: NodeJS.Timeout | undefined;

  return {
    start() {
      for (const runner of runners) void runner.work();
    },
    wake() {
      // One that is planned reads this job too.
      waking ??= setTimeout(
        () => {
          waking = undefined;
          for (const runner of runners) runner.wake();
        },
        wakeAfterMs.min + Math.random() * (wakeAfterMs.max - wakeAfterMs.min),
      ).unref();
    },
    async drain() {
      while (!stopping.signal.aborted) {
        // A claim is planned each time, which costs as much as a whole request where there is nothing to claim.
        const due = await leases.dueQueues();
        const ready = runners.filter(({ queue }) => due.includes(queue));
        const started = await Promise.all(ready.map((runner) => runner.startJobs()));
        const running = runners.flatMap((runner) => runner.running());
        if (running.length === 0 && started.every((one) => one.started === 0)) return;
        await Promise.all(running);
      }
    },
    countAttempts: attempts.counts,
    countJobs: () => countJobs(services.database.db, services.clock.now()),
    async stop() {
      stopping.abort();
      leases.stop();
      await Promise.all(runners.map((runner) => runner.stop()));
    },
  };
}
