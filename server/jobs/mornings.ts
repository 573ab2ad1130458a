import { planMornings } from '../features/mornings/plan-mornings.ts';
import type { Services } from '../kernel/context.ts';
import { createPeriodicTask, type PeriodicTask } from '../platform/periodic-task.ts';

/** Plans mornings every quarter of an hour, when 08:00 of some time zone begins. */
export type Mornings = Pick<PeriodicTask, 'start' | 'stop'> & {
  /** Plans once; returns how many companies have their morning. */
  run(): Promise<number>;
};

const quarterMs = 15 * 60_000;
/** The nodes spread their statements over a few seconds. */
const spreadMs = 5_000;
const retryMs = 60_000;

/** The first run waits until the process has started. */
export function createMornings(
  services: Pick<Services, 'database' | 'clock' | 'log' | 'streams' | 'wakeWorker' | 'wakeWebhooks'>,
  firstAfterMs = 10_000,
): Mornings {
  const { clock, log } = services;
  const run = () => planMornings(services);
  const { start, stop } = createPeriodicTask({
    firstAfterMs,
    async run() {
      await run();
      return quarterMs - (clock.now().getTime() % quarterMs) + Math.random() * spreadMs;
    },
    failed(error) {
      log.warn({ err: error }, 'reminders of the morning were not planned; next try in a minute');
      return retryMs;
    },
  });
  return { start, run, stop };
}
