import { OVERLOADED } from './faults.ts';

/** Lets so many tasks run at once and so many wait for their turn; whoever comes then is told to come later. */
export function createTurnstile(running: number, waiting: number) {
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
