import { setTimeout as delay } from 'node:timers/promises';

/** A task that runs repeatedly until it is stopped. */
export type PeriodicTask = {
  start(): void;
  /** Aborted by `stop`: a long run checks it. */
  readonly signal: AbortSignal;
  /** Resolves when the current run has ended. */
  stop(): Promise<void>;
};

export function createPeriodicTask({
  firstAfterMs,
  run,
  failed,
}: {
  firstAfterMs: number;
  /** Returns how long to wait before the next run. */
  run(): Promise<number>;
  /** Reports a failed run; returns how long to wait before the next one. */
  failed(error: unknown): number;
}): PeriodicTask {
  const stopping = new AbortController();
  const { signal } = stopping;
  let loop: Promise<void> | undefined;

  async function work(): Promise<void> {
    for (let waitMs = firstAfterMs; ; waitMs = await run().catch(failed)) {
      if (!signal.aborted) await delay(waitMs, undefined, { signal }).catch(() => {});
      if (signal.aborted) return;
    }
  }

  return {
    start: () => void (loop ??= work()),
    signal,
    async stop() {
      stopping.abort();
      await loop;
    },
  };
}
