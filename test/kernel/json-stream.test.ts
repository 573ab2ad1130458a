import { setImmediate as tick } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { JsonStream } from '../../server/kernel/wire/json-stream.ts';

/* A long answer is made in pieces, and others are served between them. */

test('of many long answers that are read at once, at most two pieces are made before others get their turn', async () => {
  let made = 0;
  async function* pieces() {
    for (let count = 0; count < 50; count += 1) {
      made += 1;
      yield 'x';
    }
  }
  const state = { isReading: true };
  const reading = Promise.all(
    Array.from({ length: 8 }, async () => {
      let text = '';
      for await (const piece of new JsonStream(pieces()).pieces) text += piece;
      return text;
    }),
  ).finally(() => (state.isReading = false));
  const madeInATick: number[] = [];
  while (state.isReading) {
    made = 0;
    await tick();
    madeInATick.push(made);
  }
  expect(await reading).toEqual(Array.from({ length: 8 }, () => 'x'.repeat(50)));
  expect(Math.max(...madeInATick)).toBeLessThanOrEqual(2);
});

test('a reader who stops ends the work, and one whose answer fails learns so', async () => {
  const ended: string[] = [];
  async function* endless() {
    try {
      for (;;) yield 'x';
    } finally {
      ended.push('endless');
    }
  }
  async function* failing() {
    yield 'x';
    throw new Error('the database is away');
  }
  for await (const piece of new JsonStream(endless()).pieces) if (piece === 'x') break;
  expect(ended).toEqual(['endless']);
  const { pieces } = new JsonStream(failing());
  const iterator = pieces[Symbol.asyncIterator]();
  expect(await iterator.next()).toEqual({ done: false, value: 'x' });
  await expect(iterator.next()).rejects.toThrow('the database is away');
  for await (const piece of new JsonStream(endless()).pieces) if (piece === 'x') break;
  expect(ended).toEqual(['endless', 'endless']);
});
