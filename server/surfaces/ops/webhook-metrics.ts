import { Counter, type Registry } from 'prom-client';
import { registerBacklog } from './backlog-metrics.ts';

export type MeasuredWebhooks = {
  webhookWorker: {
    countAttempts(): { outcome: string; count: number }[];
    /** Counted in the database, for all nodes together. */
    countMessages(): Promise<{ pending: number; late: number; oldestSeconds: number }>;
  };
};

/** Registers metrics of webhooks, and of attempts in this process. */
export function registerWebhookMetrics(registry: Registry, { webhookWorker }: MeasuredWebhooks): void {
  registerBacklog(registry, () => webhookWorker.countMessages(), {
    states: ['pending', 'late'],
    waiting: {
      name: 'webhook_messages',
      help: 'Messages for enabled webhooks that are pending: due, or waiting for a retry; late: due for a minute or longer',
    },
    oldest: {
      name: 'webhook_oldest_due_seconds',
      help: 'Time since the oldest message that waits to be sent was due; 0 where none waits',
    },
  });
  // oxlint-disable-next-line no-new -- a counter registers itself
  new Counter({
    name: 'webhook_attempts_total',
    help: 'Attempts of this process by what became of the message: delivered, pending (to be retried), failed, or released at a shutdown',
    labelNames: ['outcome'] as const,
    registers: [registry],
    collect() {
      this.reset();
      for (const { outcome, count } of webhookWorker.countAttempts()) this.inc({ outcome }, count);
    },
  });
}
