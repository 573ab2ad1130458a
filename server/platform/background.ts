import type { Log } from './log.ts';

/** Background work: answers do not wait for it, a shutdown does. */
export type Background = {
  run(name: string, task: () => Promise<void>): void;
  /** Resolves when all work is done. */
  drain(): Promise<void>;
};

export function createBackground(log: Log): Background {
  const running = new Set<Promise<void>>();
  return {
    run(name, task) {
      const settled = new Promise<void>((resolve) => setImmediate(resolve))
        .then(task)
        .catch((error: unknown) => log.error({ err: error, task: name }, 'background work failed'))
        .finally(() => running.delete(settled));
      running.add(settled);
    },
    async drain() {
      while (running.size > 0) await Promise.all(running);
    },
  };
}
