import { vi } from 'vitest';

/*
 * Vitest's own waits give up after a second. A machine that is busy with something else may stall for longer than that, so
 * these are the ones that tests use. A test of what must happen within a given time says that time.
 */
const patience = { timeout: 30_000, interval: 10 };

type Options = Partial<typeof patience>;

/** Waits until a check, which throws as long as it fails, passes. */
export const waitFor = <Value>(check: () => Value | Promise<Value>, options?: Options): Promise<Value> =>
  vi.waitFor(check, { ...patience, ...options });

/** Waits until a condition answers something truthy, and answers that. */
export const waitUntil = <Value>(condition: () => Value | Promise<Value>, options?: Options) =>
  vi.waitUntil(condition, { ...patience, ...options });
