/* Time limits, signals and delays of retries. */

/** A timer counts no further: with a longer time it would end at once. */
const timerMaxMs = 2 ** 31 - 1;

/** A signal that follows another one and is aborted with `reason` after a time; it must be released. */
export function limit(
  signal: AbortSignal | undefined,
  ms: number,
  reason: () => unknown,
): { signal: AbortSignal; release(): void } {
  const controller = new AbortController();
  const follow = (): void => controller.abort(signal?.reason);
  if (signal?.aborted === true) follow();
  signal?.addEventListener('abort', follow, { once: true });
  const timer = setTimeout(() => controller.abort(reason()), Math.min(ms, timerMaxMs));
  return {
    signal: controller.signal,
    release() {
      clearTimeout(timer);
      signal?.removeEventListener('abort', follow);
    },
  };
}

/** The result of the promise, unless the signal is aborted first. */
export async function unlessAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  // Without a waiting caller a rejection must not be reported as unhandled.
  promise.catch(() => {});
  signal.throwIfAborted();
  let stop: (() => void) | undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    stop = () => reject(signal.reason as Error);
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', stop!);
  }
}

/** Calls back when a browser comes online or goes offline; other platforms do not report it. */
export function onNetwork(event: 'online' | 'offline', callback: () => void): () => void {
  const { addEventListener, removeEventListener } = globalThis as Partial<EventTarget>;
  addEventListener?.call(globalThis, event, callback);
  return () => removeEventListener?.call(globalThis, event, callback);
}

/** Whether a browser says that it has no network, so that a failure tells nothing about the service; no other platform says it. */
export const isOffline = (): boolean =>
  (globalThis as { navigator?: { onLine?: boolean } }).navigator?.onLine === false;

/** Waits, but not longer than until a browser is online again. Rejects when the signal is aborted. */
export async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  let end = (): void => {};
  const over = new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, Math.min(ms, timerMaxMs));
    const off = onNetwork('online', resolve);
    end = () => {
      clearTimeout(timer);
      off();
    };
  });
  await (signal ? unlessAborted(over, signal) : over).finally(end);
}

const firstWaitMs = 300;
const longestWaitMs = 10_000;

/** The delay after a number of failures in a row: doubled each time, with jitter. */
export function backoffMs(failures: number): number {
  const wait = Math.min(longestWaitMs, firstWaitMs * 2 ** (failures - 1));
  return wait / 2 + (Math.random() * wait) / 2;
}
