import { expect, test } from 'vitest';
import { batched } from '../../db/batched.ts';

const itself = <Key>(key: Key): Key => key;

test('what is asked for in one turn is loaded once, each thing once, and everybody gets their own', async () => {
  const loads: number[][] = [];
  const find = batched(itself, async (keys: number[]) => {
    loads.push(keys);
    return new Map(keys.filter((key) => key !== 3).map((key) => [key, `value ${key}`]));
  });
  expect(await Promise.all([find(1), find(2), find(1), find(3)])).toEqual(['value 1', 'value 2', 'value 1', undefined]);
  expect(await find(1)).toBe('value 1');
  expect(loads).toEqual([[1, 2, 3], [1]]);
});

test('whoever asks while a load is on its way gets what is true after that', async () => {
  let truth = 'before';
  let finish = () => {};
  let isFirst = true;
  const find = batched(itself, async (keys: string[]) => {
    const found = new Map(keys.map((key) => [key, truth]));
    if (!isFirst) return found;
    isFirst = false;
    await new Promise<void>((resolve) => (finish = resolve));
    return found;
  });
  const first = find('session');
  await new Promise((resolve) => setImmediate(resolve));
  truth = 'after';
  const second = find('session');
  expect(await second).toBe('after');
  finish();
  expect(await first).toBe('before');
});

test('a load that fails fails for those who asked, and for nobody later', async () => {
  let isBroken = true;
  const find = batched(itself, async (keys: number[]) => {
    if (isBroken) throw new Error('no database');
    return new Map(keys.map((key) => [key, key]));
  });
  const outcomes = await Promise.allSettled([find(1), find(2)]);
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  isBroken = false;
  expect(await find(1)).toBe(1);
});

test('where many ask at once, the load for the first of them begins while the others still ask', async () => {
  const loads: number[] = [];
  const find = batched(itself, async (keys: number[]) => {
    loads.push(keys.length);
    return new Map(keys.map((key) => [key, key]));
  });
  const asked = Array.from({ length: 40 }, (_, key) => find(key));
  expect(loads).toEqual([16, 16]);
  expect(await Promise.all(asked)).toEqual(Array.from({ length: 40 }, (_, key) => key));
  expect(loads).toEqual([16, 16, 8]);
});
