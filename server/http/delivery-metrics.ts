import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import { Counter, Gauge, type Registry } from 'prom-client';
import type { Services } from '../kernel/context.ts';

export type MeasuredDeliveries = Pick<Services, 'database' | 'clock'> & {
  worker: { countTries(): { reaction: string; outcome: string; count: number }[] };
};

type Owed = { waiting: number; parked: number; late: number; oldestSeconds: number };

/** Beyond it a delivery that is due is late: the service is not keeping up. */
const lateAfterMs = 60_000;
/** Far below the time that Prometheus gives a scrape: with a database that hangs, the rest of the metrics matters most. */
const countWithinMs = 2_000;

/**
 * What is owed is counted in the database, for all nodes together; how tries ended, in this process. While the
 * database does not answer, the former are left out.
 */
export function watchDeliveries(registry: Registry, services: MeasuredDeliveries): void {
  const registers = [registry];
  const countInTime = countedOnce(() => countOwed(services));
  // oxlint-disable-next-line no-new -- a gauge registers itself
  new Gauge({
    name: 'deliveries',
    help: 'Mails and notifications that are owed: waiting for a try, parked after the last one, late where a try has been due for a minute',
    labelNames: ['state'] as const,
    registers,
    async collect() {
      this.reset();
      const owed = await countInTime();
      if (!owed) return;
      this.set({ state: 'waiting' }, owed.waiting);
      this.set({ state: 'parked' }, owed.parked);
      this.set({ state: 'late' }, owed.late);
    },
  });
  // oxlint-disable-next-line no-new -- a gauge registers itself
  new Gauge({
    name: 'deliveries_oldest_waiting_seconds',
    help: 'How long the one that has waited longest has been owed; 0 where none waits',
    registers,
    async collect() {
      const owed = await countInTime();
      if (owed) this.set(owed.oldestSeconds);
      else this.remove();
    },
  });
  // oxlint-disable-next-line no-new -- a counter registers itself
  new Counter({
    name: 'delivery_tries_total',
    help: 'Tries that ended in this process: done, failed (and to be tried again) or parked',
    labelNames: ['reaction', 'outcome'] as const,
    registers,
    collect() {
      this.reset();
      for (const { reaction, outcome, count } of services.worker.countTries()) this.inc({ reaction, outcome }, count);
    },
  });
}

/** One count for all who ask at the same time, and none more while one hangs; undefined where there is no answer in time. */
function countedOnce(count: () => Promise<Owed>): () => Promise<Owed | undefined> {
  let counting: Promise<Owed | undefined> | undefined;
  return () => {
    counting ??= count()
      .catch(() => undefined)
      .finally(() => (counting = undefined));
    return Promise.race([counting, delay(countWithinMs, undefined, { ref: false })]);
  };
}

/** Each part reads one partial index, of what waits or of what is parked. */
async function countOwed({ database, clock }: MeasuredDeliveries): Promise<Owed> {
  const now = clock.now();
  const { rows } = await sql<Owed>`
    select count(*) as waiting, count(*) filter (where due_at <= ${new Date(now.getTime() - lateAfterMs)}) as late,
      -- One for later is owed since it was first due; a failure has moved that on.
      coalesce(extract(epoch from ${now}::timestamptz
        - min(case when last_error is null then due_at else created_at end)), 0)::float as "oldestSeconds",
      (select count(*) from deliveries where parked_at is not null) as parked
    from deliveries
    where parked_at is null and (attempts > 0 or due_at <= ${now})`.execute(database.db);
  return rows[0]!;
}
