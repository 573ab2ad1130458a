import { Counter, Gauge, type Registry } from 'prom-client';
import { countedOnce } from './counted-once.ts';

type MessageCounts = { pending: number; late: number; oldestSeconds: number };

export type MeasuredWebhooks = {
  webhookWorker: {
    countAttempts(): { outcome: string; count: number }[];
    /** Counted in the database, for all nodes together. */
    countMessages(): Promise<MessageCounts>;
  };
};

/** Registers metrics of webhooks, counted in the database for all nodes, and of attempts in this process. */
export function registerWebhookMetrics(registry: Registry, { webhookWorker }: MeasuredWebhooks): void {
  const registers = [registry];
  const countInTime = countedOnce(() => webhookWorker.countMessages());
  // oxlint-disable-next-line no-new -- a gauge registers itself
  new Gauge({
    name: 'webhook_messages',
    help: 'Messages for enabled webhooks that are pending: due, or waiting for a retry; late: due for a minute or longer',
    labelNames: ['state'] as const,
    registers,
    async collect() {
      this.reset();
      const counts = await countInTime();
      if (!counts) return;
      this.set({ state: 'pending' }, counts.pending);
      this.set({ state: 'late' }, counts.late);
    },
  });
  // oxlint-disable-next-line no-new -- a gauge registers itself
  new Gauge({
    name: 'webhook_oldest_due_seconds',
    help: 'Time since the oldest message that waits to be sent was due; 0 where none waits',
    registers,
    async collect() {
      const counts = await countInTime();
      if (counts) this.set(counts.oldestSeconds);
      else this.remove();
    },
  });
  // oxlint-disable-next-line no-new -- a counter registers itself
  new Counter({
    name: 'webhook_attempts_total',
    help: 'Attempts of this process by what became of the message: delivered, pending (to be retried), failed, or released at a shutdown',
    labelNames: ['outcome'] as const,
    registers,
    collect() {
      this.reset();
      for (const { outcome, count } of webhookWorker.countAttempts()) this.inc({ outcome }, count);
    },
  });
}
