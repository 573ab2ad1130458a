import type { AnyJobHandler, JobServices } from '../kernel/job.ts';
import { sendWithinMs, type Mailer } from '../mail/mailer.ts';
import type { LeasedJob } from './lease-statements.ts';
import type { Leases } from './leases.ts';
import { attemptsMax, retryDelayMs } from './retry.ts';

/** `failed` is retried, `dead_lettered` is not. */
export type AttemptCount = { handler: string; outcome: 'succeeded' | 'failed' | 'dead_lettered'; count: number };

export type Attempts = {
  /**
   * Runs a group of leased jobs once and writes their outcome; never rejects. Where more jobs wait, a batch is filled up with
   * those like it.
   */
  run(group: LeasedJob[], hasMore: boolean): Promise<void>;
  /** Leased jobs in groups, each of which runs as a batch where it has more than one job. */
  groupsOf(jobs: LeasedJob[]): LeasedJob[][];
  /** The attempts of this process by handler and outcome. */
  counts(): AttemptCount[];
};

/** So many jobs are run as one batch: enough to share most of their cost, few enough to hold no row lock for long. */
const batchMax = 25;

export function createAttempts(services: JobServices, handlers: AnyJobHandler[], leases: Leases): Attempts {
  const { log } = services;
  const byName = new Map(handlers.map((handler) => [handler.name, handler]));
  const counts = new Map<string, AttemptCount>();

  function count(handler: string, outcome: AttemptCount['outcome'], jobs = 1): void {
    const counted = counts.get(`${handler} ${outcome}`);
    if (counted) counted.count += jobs;
    else counts.set(`${handler} ${outcome}`, { handler, outcome, count: jobs });
  }

  /** What failed once is run alone. */
  const canBatch = ({ handler, companyId, attempt }: LeasedJob): boolean =>
    attempt === 1 && companyId > 0 && byName.get(handler)?.runBatch !== undefined;

  async function handle(job: LeasedJob): Promise<void> {
    // An attempt that died with its process has recorded no failure; it must not be repeated for ever.
    if (job.attempt > attemptsMax) throw new Error('its last attempt never came to an end');
    const handler = byName.get(job.handler);
    if (!handler) throw new Error(`this version has no job handler called ${job.handler}`);
    const { payload, dedupeKey, createdAt } = job;
    const own = { ...services, mailer: mailerUnderLease(job, services), jobName: handler.name };
    await handler.run(own, payload, { dedupeKey, createdAt });
  }

  async function fail(job: LeasedJob, error: unknown): Promise<void> {
    const { jobId, handler, attempt } = job;
    const delayMs = retryDelayMs(error, attempt);
    await leases.fail(job, { retryDelayMs: delayMs, reason: reasonOf(error) });
    const fields = { err: error, handler, jobId, attempts: attempt };
    if (delayMs === undefined) {
      log.error(fields, 'a job was dead-lettered: `npm run jobs -- list` shows it, and `requeue` retries it');
      count(handler, 'dead_lettered');
    } else {
      log.warn({ ...fields, retryDelayMs: Math.round(delayMs) }, 'a job failed and will be retried');
      count(handler, 'failed');
    }
  }

  async function runOne(job: LeasedJob): Promise<void> {
    const { jobId, handler } = job;
    let failure: { error: unknown } | undefined;
    await handle(job).catch((error: unknown) => (failure = { error }));
    try {
      if (failure) return await fail(job, failure.error);
      await leases.complete([job]);
      count(handler, 'succeeded');
    } catch (error) {
      log.warn({ err: error, handler, jobId }, 'the outcome of a job could not be written, so it will run once more');
    }
  }

  async function fillUp(group: LeasedJob[]): Promise<LeasedJob[]> {
    const { queue } = byName.get(group[0]!.handler)!;
    try {
      return [...group, ...(await leases.takeAlike(group[0]!, queue, batchMax - group.length))];
    } catch (error) {
      log.warn({ err: error }, 'a batch of jobs could not be filled up');
      return group;
    }
  }

  /** Returns whether the jobs were done; where they were not, each is run alone, and fails alone. */
  async function runBatch(jobs: LeasedJob[]): Promise<boolean> {
    const { handler, companyId } = jobs[0]!;
    const payloads = jobs.map(({ payload }) => payload);
    try {
      await byName.get(handler)?.runBatch?.({ ...services, jobName: handler }, companyId, payloads);
      return true;
    } catch (error) {
      log.warn({ err: error, handler, jobs: jobs.length }, 'a batch of jobs failed, and they are run one by one');
      return false;
    }
  }

  return {
    groupsOf: (jobs) => [
      ...Map.groupBy(jobs, (job) => (canBatch(job) ? `${job.handler} ${job.companyId}` : job.jobId)).values(),
    ],
    async run(group, hasMore) {
      const { handler } = group[0]!;
      const jobs = hasMore && canBatch(group[0]!) ? await fillUp(group) : group;
      if (jobs.length === 1 || !(await runBatch(jobs))) {
        for (const job of jobs) await runOne(job);
        return;
      }
      try {
        await leases.complete(jobs);
        count(handler, 'succeeded', jobs.length);
      } catch (error) {
        log.warn(
          { err: error, handler },
          'the outcome of a batch of jobs could not be written, so they will run once more',
        );
      }
    },
    counts: () => [...counts.values()],
  };
}

/** Sends mail only while enough of the lease is left: after that another process may send the same mail. */
function mailerUnderLease(job: LeasedJob, { clock, mailer }: JobServices): Mailer {
  return {
    async send(mail, options) {
      if (job.leasedUntil.getTime() - clock.now().getTime() < sendWithinMs)
        throw new Error('its lease ran out before it could be sent');
      await mailer.send(mail, options);
    },
  };
}

/** An error as one line that a text column takes: without control characters. */
function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message
    .replaceAll(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(0, 500);
}
