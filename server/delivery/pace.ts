import { setImmediate as tick, setTimeout as delay } from 'node:timers/promises';
import type { Lane } from '../kernel/reaction.ts';

/**
 * How many deliveries of a lane run at once. A slot that becomes free is there again at once, so that one delivery
 * which takes long holds up its own slot and nothing else.
 *
 * Mail goes out one by one while the provider is quick: when its process is killed, nobody can tell of a mail that was
 * under way whether it arrived, so it is sent again. What is not under way cannot become a duplicate.
 */
export type Pace = {
  /** How many may begin now. */
  room(): number;
  begin(delivery: Promise<void>): void;
  /** Resolves when another one may begin. */
  untilRoom(): Promise<void>;
  running(): Promise<void>[];
};

/** So few that requests find a connection to the database, so many that what hangs does not stop the rest. */
const slots = 10;
/** A mail that takes longer than this holds up the next one no longer. */
const slowMs = 500;

export function createPace(lane: Lane): Pace {
  const beganAt = new Map<Promise<void>, number>();

  /** Until no mail that runs is a quick one any more. */
  const quickMs = (): number =>
    beganAt.size === 0 ? 0 : Math.max(0, Math.max(...beganAt.values()) + slowMs - performance.now());

  function room(): number {
    const free = slots - beganAt.size;
    if (lane !== 'mail' || free === 0) return free;
    return quickMs() === 0 ? 1 : 0;
  }

  return {
    room,
    begin(delivery) {
      const running = delivery.finally(() => beganAt.delete(running));
      beganAt.set(running, performance.now());
    },
    async untilRoom() {
      if (room() > 0) return;
      const over = new AbortController();
      const waits: Promise<unknown>[] = [...beganAt.keys()];
      if (beganAt.size < slots) waits.push(delay(quickMs(), undefined, { signal: over.signal }).catch(() => {}));
      await Promise.race(waits);
      over.abort();
      // What ends together is followed by one look.
      await tick();
    },
    running: () => [...beganAt.keys()],
  };
}
