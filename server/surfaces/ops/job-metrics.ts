import { Counter, type Registry } from 'prom-client';
import { registerBacklog } from './backlog-metrics.ts';

export type MeasuredJobs = {
  worker: {
    countAttempts(): { handler: string; outcome: string; count: number }[];
    /** Counted in the database, for all nodes together. */
    countJobs(): Promise<{ pending: number; dead_lettered: number; late: number; oldestSeconds: number }>;
  };
};

/** Registers metrics of jobs, and of attempts in this process. */
export function registerJobMetrics(registry: Registry, { worker }: MeasuredJobs): void {
  registerBacklog(registry, () => worker.countJobs(), {
    states: ['pending', 'dead_lettered', 'late'],
    waiting: {
      name: 'jobs',
      help: 'Jobs (mails, notifications) that are pending: due, or waiting for a retry; late: due for a minute or longer; dead_lettered: not retried any more',
    },
    oldest: {
      name: 'jobs_oldest_pending_seconds',
      help: 'Time since the oldest pending job was first due; 0 where none is pending',
    },
  });
  // oxlint-disable-next-line no-new -- a counter registers itself
  new Counter({
    name: 'job_attempts_total',
    help: 'Attempts that ended in this process: succeeded, failed (to be retried) or dead_lettered',
    labelNames: ['handler', 'outcome'] as const,
    registers: [registry],
    collect() {
      this.reset();
      for (const { handler, outcome, count } of worker.countAttempts()) this.inc({ handler, outcome }, count);
    },
  });
}
