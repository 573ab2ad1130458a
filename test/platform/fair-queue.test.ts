import { expect, test } from 'vitest';
import { createFairQueue, type FairQueueOptions } from '../../server/platform/fair-queue.ts';

/** A queue whose tasks end when the test says so; `order` tells in which order they began. */
function observe(options: FairQueueOptions) {
  const inTurn = createFairQueue(options);
  const order: string[] = [];
  const ends: (() => void)[] = [];
  const outcomes = new Map<string, string>();
  return {
    order,
    outcomes,
    async ask(name: string, key: string[], signal?: AbortSignal): Promise<void> {
      void inTurn(
        key,
        () => {
          order.push(name);
          return new Promise<void>((resolve) => ends.push(resolve));
        },
        signal,
      ).then(
        () => outcomes.set(name, 'done'),
        (error: Error & { definition?: { code: string } }) =>
          outcomes.set(name, error.definition?.code ?? error.message),
      );
      await tick();
    },
    running: () => ends.length,
    async endOne(): Promise<void> {
      ends.shift()?.();
      await tick();
    },
    async endAll(): Promise<void> {
      while (ends.length > 0) await this.endOne();
    },
  };
}
const tick = () => new Promise((resolve) => setImmediate(resolve));
const names = (key: string, count: number) => Array.from({ length: count }, (_, index) => `${key}${index + 1}`);

test('keys take turns, and within a key the first to come is served first', async () => {
  const queue = observe({ running: 1, waiting: 20 });
  for (const name of ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1']) await queue.ask(name, [name[0]!]);
  await queue.endAll();
  expect(queue.order).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4']);
});

test('the second part of a key takes turns within the first', async () => {
  const queue = observe({ running: 1, waiting: 20 });
  const asked = ['x/a1', 'x/a2', 'x/a3', 'x/b1', 'y/a1'];
  await queue.ask('first', ['other']);
  for (const name of asked) await queue.ask(name, [name[0]!, name[2]!]);
  await queue.endAll();
  expect(queue.order).toEqual(['first', 'x/a1', 'y/a1', 'x/b1', 'x/a2', 'x/a3']);
});

test('no more run at once than may, and a failure gives its place on', async () => {
  const queue = observe({ running: 2, waiting: 20 });
  for (const name of names('a', 6)) await queue.ask(name, ['a']);
  while (queue.running() > 0) {
    expect(queue.running()).toBeLessThanOrEqual(2);
    await queue.endOne();
  }
  expect(queue.order).toHaveLength(6);

  const inTurn = createFairQueue({ running: 1, waiting: 1 });
  const failing = inTurn(['a'], () => Promise.reject(new Error('no')));
  const next = inTurn(['a'], () => Promise.resolve('yes'));
  await expect(failing).rejects.toThrow('no');
  await expect(next).resolves.toBe('yes');
});

test('a key that waits too long a line is refused, and others are not', async () => {
  const queue = observe({ running: 1, waiting: 20, waitingPerKey: 2 });
  for (const name of names('a', 4)) await queue.ask(name, ['a']);
  await queue.ask('b1', ['b']);
  expect([...queue.outcomes]).toEqual([['a4', 'OVERLOADED']]);
  await queue.endAll();
  expect(queue.order).toEqual(['a1', 'a2', 'b1', 'a3']);
});

test('a full queue makes room for who waits less, at the cost of who waits most', async () => {
  const queue = observe({ running: 1, waiting: 4 });
  for (const name of names('a', 5)) await queue.ask(name, ['a']);
  await queue.ask('b1', ['b']);
  expect([...queue.outcomes]).toEqual([['a5', 'OVERLOADED']]);
  await queue.ask('b2', ['b']);
  // Now each key has two: nobody is pushed out by an equal.
  await queue.ask('b3', ['b']);
  await queue.ask('a6', ['a']);
  expect([...queue.outcomes]).toEqual([
    ['a5', 'OVERLOADED'],
    ['a4', 'OVERLOADED'],
    ['b3', 'OVERLOADED'],
    ['a6', 'OVERLOADED'],
  ]);
  await queue.endAll();
  expect(queue.order).toEqual(['a1', 'a2', 'b1', 'a3', 'b2']);
});

test('who gives up while waiting leaves the queue, and who runs is left alone', async () => {
  const queue = observe({ running: 1, waiting: 2 });
  const [running, waiting] = [new AbortController(), new AbortController()];
  await queue.ask('a1', ['a'], running.signal);
  await queue.ask('a2', ['a'], waiting.signal);
  await queue.ask('a3', ['a']);
  waiting.abort(new Error('gone'));
  running.abort(new Error('gone'));
  await tick();
  expect([...queue.outcomes]).toEqual([['a2', 'gone']]);
  await queue.ask('a4', ['a']);
  await queue.endAll();
  expect(queue.order).toEqual(['a1', 'a3', 'a4']);
  await queue.ask('late', ['a'], AbortSignal.abort(new Error('gone')));
  expect(queue.outcomes.get('late')).toBe('gone');
});
