import type { Clock } from '../../server/platform/clock.ts';

/** The real time, moved forward as a test wants. */
export type TestClock = Clock & {
  advance(by: { ms?: number; seconds?: number; minutes?: number; hours?: number; days?: number }): void;
};

export function createTestClock(): TestClock {
  let offsetMs = 0;
  return {
    now: () => new Date(Date.now() + offsetMs),
    advance({ ms = 0, seconds = 0, minutes = 0, hours = 0, days = 0 }) {
      offsetMs += ms + 1000 * (seconds + 60 * (minutes + 60 * (hours + 24 * days)));
    },
  };
}
