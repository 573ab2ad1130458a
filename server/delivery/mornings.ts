import { setTimeout as delay } from 'node:timers/promises';
import { planMornings } from '../features/mornings/plan-mornings.ts';
import type { Services } from '../kernel/context.ts';

/** Looks every quarter of an hour, at which the mornings of all time zones begin, for companies whose morning it is. */
export type Mornings = {
  start(): void;
  /** Looks once; answers how many companies have their morning. */
  run(): Promise<number>;
  stop(): Promise<void>;
};

const quarterMs = 15 * 60_000;
/** Nodes do not all look in the same moment; a morning that has come is a matter of seconds. */
const spreadMs = 5_000;
const retryMs = 60_000;

/** A first look leaves the start alone. */
export function createMornings(
  services: Pick<Services, 'database' | 'clock' | 'log' | 'wakeDeliveries'>,
  firstAfterMs = 10_000,
): Mornings {
  const { clock, log } = services;
  const stopping = new AbortController();
  let loop: Promise<void> | undefined;

  const untilQuarter = (): number => quarterMs - (clock.now().getTime() % quarterMs) + Math.random() * spreadMs;

  async function work(): Promise<void> {
    let waitMs = firstAfterMs;
    while (!stopping.signal.aborted) {
      await delay(waitMs, undefined, { signal: stopping.signal }).catch(() => {});
      if (stopping.signal.aborted) return;
      waitMs = await planMornings(services).then(untilQuarter, (error: unknown) => {
        log.warn({ err: error }, 'reminders of the morning were not planned; next try in a minute');
        return retryMs;
      });
    }
  }

  return {
    start: () => void (loop ??= work()),
    run: () => planMornings(services),
    async stop() {
      stopping.abort();
      await loop;
    },
  };
}
