import { OVERLOADED } from '../errors/errors.ts';

/*
 * A concurrency limit whose waiting tasks take turns by key: round robin between the values of its first part, within one
 * of these between the values of the second, and so on; first come, first served within a whole key. Invariants:
 * - No more than `running` tasks run at once, no more than `waiting` wait, and no more than `waitingPerKey` under one
 *   first part.
 * - A key that waits is served after at most one task of each other key.
 * - A full queue makes room for a key that waits less than another: the newest task of the key that waits most is
 *   refused. So a flood under a few keys refuses its own tasks and nobody else's.
 */

export type FairQueueOptions = {
  /** Tasks that run at once. */
  running: number;
  /** Tasks that wait, in all. */
  waiting: number;
  /** Tasks that wait under one first part of a key; `waiting` by default. */
  waitingPerKey?: number;
};

/** Runs a task when its turn comes. Throws OVERLOADED, or the reason of `signal` if it is aborted while waiting. */
export type FairQueue = <T>(key: readonly string[], task: () => Promise<T>, signal?: AbortSignal) => Promise<T>;

type Entry = { start(): void; refuse(reason: unknown): void };

/** The tasks that wait under the beginning of a key. */
type Level = { waiting: number; entries: Entry[]; children: Map<string, Level> };

export function createFairQueue({ running, waiting, waitingPerKey = waiting }: FairQueueOptions): FairQueue {
  let free = running;
  const root = emptyLevel();

  function waitForTurn(key: readonly string[], signal: AbortSignal | undefined): Promise<void> {
    const queued = root.children.get(key[0]!)?.waiting ?? 0;
    if (queued >= waitingPerKey) throw overloaded();
    if (root.waiting >= waiting) {
      const longest = longestOf(root);
      if (!longest || longest.waiting <= queued + 1) throw overloaded();
      takeNewest(root).refuse(overloaded());
    }
    return new Promise((resolve, reject) => {
      const abort = () => {
        remove(root, key, entry);
        reject(signal!.reason as Error);
      };
      const removeListener = () => signal?.removeEventListener('abort', abort);
      const entry: Entry = {
        start: () => (removeListener(), resolve()),
        refuse: (reason) => (removeListener(), reject(reason)),
      };
      signal?.addEventListener('abort', abort, { once: true });
      add(root, key, entry);
    });
  }

  return async (key, task, signal) => {
    signal?.throwIfAborted();
    if (free > 0) free -= 1;
    else await waitForTurn(key, signal);
    try {
      return await task();
    } finally {
      // The slot goes to the next task without becoming free in between.
      if (root.waiting > 0) takeNext(root).start();
      else free += 1;
    }
  };
}

const overloaded = () => OVERLOADED({ retryAfterSeconds: 1 });

const emptyLevel = (): Level => ({ waiting: 0, entries: [], children: new Map() });

function add(level: Level, [part, ...rest]: readonly string[], entry: Entry): void {
  level.waiting += 1;
  if (part === undefined) return void level.entries.push(entry);
  let child = level.children.get(part);
  if (!child) level.children.set(part, (child = emptyLevel()));
  add(child, rest, entry);
}

function remove(level: Level, [part, ...rest]: readonly string[], entry: Entry): void {
  level.waiting -= 1;
  if (part === undefined) return void level.entries.splice(level.entries.indexOf(entry), 1);
  const child = level.children.get(part)!;
  remove(child, rest, entry);
  if (child.waiting === 0) level.children.delete(part);
}

function takeNext(level: Level): Entry {
  level.waiting -= 1;
  if (level.entries.length > 0) return level.entries.shift()!;
  const [[part, child]] = level.children as unknown as [[string, Level]];
  const entry = takeNext(child);
  // A map preserves insertion order: the key moves to the end of the round.
  level.children.delete(part);
  if (child.waiting > 0) level.children.set(part, child);
  return entry;
}

function longestOf(level: Level): Level | undefined {
  let longest: Level | undefined;
  for (const child of level.children.values()) if (child.waiting > (longest?.waiting ?? 0)) longest = child;
  return longest;
}

function takeNewest(level: Level): Entry {
  level.waiting -= 1;
  if (level.entries.length > 0) return level.entries.pop()!;
  const longest = longestOf(level)!;
  const entry = takeNewest(longest);
  if (longest.waiting === 0)
    for (const [part, child] of level.children) if (child === longest) level.children.delete(part);
  return entry;
}
