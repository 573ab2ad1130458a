import { setTimeout as delay } from 'node:timers/promises';
import type { Queue, JobServices } from '../kernel/job.ts';
import {
  deleteJobs,
  findDueQueues,
  releaseFailedJob,
  renewLeases,
  takeAlike,
  takeLeases,
  type LeasedJob,
} from './lease-statements.ts';

/**
 * The leases that this process holds. They are short, so that another process soon takes over from a killed one, and
 * are renewed.
 */
export type Leases = {
  /** The queues in which a job is due, leased or not. */
  dueQueues(): Promise<Queue[]>;
  /** Leases up to `count` jobs of a queue that are due. */
  take(queue: Queue, count: number): Promise<LeasedJob[]>;
  /** Leases up to `count` more jobs of the same kind and company that are due. */
  takeAlike(job: LeasedJob, queue: Queue, count: number): Promise<LeasedJob[]>;
  /** Deletes jobs that succeeded. */
  complete(jobs: LeasedJob[]): Promise<void>;
  /** Releases a failed job: it is retried after the delay, or dead-lettered without one. */
  fail(job: LeasedJob, outcome: { retryDelayMs: number | undefined; reason: string }): Promise<void>;
  /** Stops waiting for a database that does not answer. */
  stop(): void;
};

export type LeaseTimes = { leaseMs: number; renewMs: number };

type Needed = Pick<JobServices, 'database' | 'clock' | 'log'>;

const firstRetryMs = 100;

export function createLeases({ database: { db }, clock, log }: Needed, { leaseMs, renewMs }: LeaseTimes): Leases {
  const inFuture = (ms: number) => new Date(clock.now().getTime() + ms);
  const stopping = new AbortController();
  /** The company that had the last turn in each queue. */
  const lastTurns = new Map<Queue, number>();
  const held = createHeldLeases(renewMs, async (jobs) => {
    const until = inFuture(leaseMs);
    const renewed = new Set(
      await renewLeases(db, jobs, until).catch((error: unknown) => {
        log.warn({ err: error }, 'leases of jobs could not be renewed');
        return [];
      }),
    );
    for (const job of jobs) if (renewed.has(job.jobId)) job.leasedUntil = until;
  });

  /**
   * Retries the statement while the lease lasts, to outlast a short outage of the database: a job that was run but not
   * deleted would run a second time.
   */
  async function writeOutcome(jobs: LeasedJob[], statement: () => Promise<void>): Promise<void> {
    try {
      for (let waitMs = firstRetryMs; ; waitMs *= 2) {
        try {
          return await statement();
        } catch (error) {
          if (stopping.signal.aborted || jobs.some((job) => inFuture(waitMs) > job.leasedUntil)) throw error;
          await delay(waitMs, undefined, { signal: stopping.signal }).catch(() => {});
        }
      }
    } finally {
      for (const job of jobs) held.remove(job);
    }
  }

  return {
    dueQueues: () => findDueQueues(db, clock.now()),
    async take(queue, count) {
      const heldIds = held.ids();
      const times = { now: clock.now(), until: inFuture(leaseMs) };
      const after = lastTurns.get(queue) ?? 0;
      const { jobs, after: last } = await takeLeases(db, { queue, count, heldIds, after, ...times });
      lastTurns.set(queue, last);
      held.add(jobs);
      return jobs;
    },
    async takeAlike(job, queue, count) {
      const jobs = await takeAlike(db, job, { queue, count, now: clock.now(), until: inFuture(leaseMs) });
      held.add(jobs);
      return jobs;
    },
    complete: (jobs) => writeOutcome(jobs, () => deleteJobs(db, jobs)),
    fail(job, { retryDelayMs, reason }) {
      const failure =
        retryDelayMs === undefined
          ? { reason, deadLetteredAt: clock.now() }
          : { reason, retryAt: inFuture(retryDelayMs) };
      return writeOutcome([job], () => releaseFailedJob(db, job, failure));
    },
    stop: () => stopping.abort(),
  };
}

/** Calls `renew` at intervals with all held leases, while there are any. */
function createHeldLeases(renewMs: number, renew: (jobs: LeasedJob[]) => Promise<void>) {
  const held = new Map<number, LeasedJob>();
  let timer: NodeJS.Timeout | undefined;
  return {
    ids: () => [...held.keys()],
    add(jobs: LeasedJob[]): void {
      for (const job of jobs) held.set(job.jobId, job);
      if (held.size > 0) timer ??= setInterval(() => void renew([...held.values()]), renewMs).unref();
    },
    remove(job: LeasedJob): void {
      // A frozen process may hold a newer lease of the same job.
      if (held.get(job.jobId) === job) held.delete(job.jobId);
      if (held.size > 0) return;
      clearInterval(timer);
      timer = undefined;
    },
  };
}
