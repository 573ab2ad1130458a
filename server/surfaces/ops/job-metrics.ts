import { Counter, Gauge, type Registry } from 'prom-client';
import { countedOnce } from './counted-once.ts';

type JobCounts = { pending: number; dead_lettered: number; late: number; oldestSeconds: number };

export type MeasuredJobs = {
  worker: {
    countAttempts(): { handler: string; outcome: string; count: number }[];
    /** Counted in the database, for all nodes together. */
    countJobs(): Promise<JobCounts>;
  };
};

/**
 * Registers metrics of jobs, counted in the database for all nodes, and of attempts in this process. While the database
 * does not answer, the former are left out.
 */
export function registerJobMetrics(registry: Registry, { worker }: MeasuredJobs): void {
  const registers = [registry];
  const countInTime = countedOnce(() => worker.countJobs());
  // oxlint-disable-next-line no-new -- a gauge registers itself
  new Gauge({
    name: 'jobs',
    help: 'Jobs (mails, notifications) that are pending: due, or waiting for a retry; late: due for a minute or longer; dead_lettered: not retried any more',
    labelNames: ['state'] as const,
    registers,
    async collect() {
      this.reset();
      const counts = await countInTime();
      if (!counts) return;
      this.set({ state: 'pending' }, counts.pending);
      this.set({ state: 'dead_lettered' }, counts.dead_lettered);
      this.set({ state: 'late' }, counts.late);
    },
  });
  // oxlint-disable-next-line no-new -- a gauge registers itself
  new Gauge({
    name: 'jobs_oldest_pending_seconds',
    help: 'Time since the oldest pending job was first due; 0 where none is pending',
    registers,
    async collect() {
      const counts = await countInTime();
      if (counts) this.set(counts.oldestSeconds);
      else this.remove();
    },
  });
  // oxlint-disable-next-line no-new -- a counter registers itself
  new Counter({
    name: 'job_attempts_total',
    help: 'Attempts that ended in this process: succeeded, failed (to be retried) or dead_lettered',
    labelNames: ['handler', 'outcome'] as const,
    registers,
    collect() {
      this.reset();
      for (const { handler, outcome, count } of worker.countAttempts()) this.inc({ handler, outcome }, count);
    },
  });
}
