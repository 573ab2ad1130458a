import { OVERLOADED } from '../errors/errors.ts';

/** Runs at most so many tasks at once and lets so many wait; further ones are refused. */
export function createSemaphore(running: number, waiting: number) {
  let free = running;
  const queue: (() => void)[] = [];
  return async <T>(task: () => Promise<T>): Promise<T> => {
    if (free > 0) free -= 1;
    else {
      if (queue.length >= waiting) throw OVERLOADED({ retryAfterSeconds: 1 });
      await new Promise<void>((resolve) => queue.push(resolve));
    }
    try {
      return await task();
    } finally {
      const next = queue.shift();
      if (next) next();
      else free += 1;
    }
  };
}
