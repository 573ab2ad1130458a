import { describe, expect, test } from 'vitest';
import { checkHistory, type Append, type Delivery, type Operation, type Read } from './history.ts';

/* The checker of histories finds what is planted, and nothing where nothing is. Times are in the order of the lines. */

const stream = 'task 1';
let now = 0;
const span = () => ({ begun: (now += 10), ended: (now += 10) });

const append = (value: string, changes: Partial<Append> = {}): Append => {
  return { kind: 'append', process: 'writer', stream, value, outcome: 'acknowledged', ...span(), ...changes };
};
const read = (values: string[], changes: Partial<Read> = {}): Read => {
  return { kind: 'read', process: 'reader', stream, values, ...span(), ...changes };
};
const deliver = (process: string, ...values: (string | undefined)[]): Delivery[] =>
  values.map((value, index) => ({ kind: 'delivery', process, stream, id: index + 1, value, at: (now += 10) }));

test('accepts what one list behind one lock would give, writes of unknown outcome included', () => {
  const history: Operation[] = [];
  const list: string[] = [];
  for (let count = 0; count < 400; count += 1) {
    const value = `value ${count}`;
    const isThere = count % 7 !== 3;
    const outcome = count % 7 < 3 ? 'acknowledged' : 'unknown';
    if (isThere) list.push(value);
    // Another one begins before this one ends.
    history.push(append(value, { outcome: isThere ? outcome : 'refused', ended: now + 35 }));
    if (count % 20 === 0) history.push(read([...list]));
  }
  history.push(...deliver('one', ...list), ...deliver('two', ...list));
  expect(checkHistory(history)).toEqual([]);
});

test('accepts a read that has or has not what is written at the same time', () => {
  const write = append('a', { begun: 0, ended: 1_000 });
  const [without, within] = [
    read([], { begun: 100, ended: 400 }),
    read(['a'], { process: 'other', begun: 200, ended: 300 }),
  ];
  now = 2_000;
  expect(checkHistory([write, without, within, ...deliver('one', 'a')])).toEqual([]);
});

test('accepts events that append nothing', () => {
  expect(checkHistory([append('a'), append('b'), ...deliver('one', 'a', undefined, 'b')])).toEqual([]);
});

describe('finds', () => {
  const problemsOf = (history: Operation[]): string => checkHistory(history).join('\n');

  test('an acknowledged write that is lost', () => {
    expect(problemsOf([append('a'), append('b'), ...deliver('one', 'a')])).toMatch(
      /"b" was acknowledged, and no event tells of it/,
    );
  });

  test('an acknowledged write that the list lacks, although an event told of it', () => {
    expect(problemsOf([append('a'), append('b'), ...deliver('one', 'a', 'b'), read(['a'])])).toMatch(
      /no order explains/,
    );
  });

  test('a write that happened twice', () => {
    expect(problemsOf([append('a'), ...deliver('one', 'a', 'a')])).toMatch(/"a" was appended twice/);
    expect(problemsOf([append('a'), ...deliver('one', 'a'), read(['a', 'a'])])).toMatch(/read "a" twice/);
  });

  test('two subscribers who received different orders', () => {
    const writes = [append('a', { ended: 1e6 }), append('b', { ended: 1e6 })];
    expect(problemsOf([...writes, ...deliver('one', 'a', 'b'), ...deliver('two', 'b', 'a')])).toMatch(
      /received "b" as event 1, where/,
    );
  });

  test('two readers whose lists fit no common order', () => {
    const writes = [append('a', { ended: 1e6 }), append('b', { ended: 1e6 })];
    const reads = [read(['a'], { ended: 1e6 }), read(['b'], { ended: 1e6 })];
    expect(problemsOf([...writes, ...reads, ...deliver('one', 'a', 'b')])).toMatch(/no order explains/);
  });

  test('a reader whose list goes back', () => {
    const write = append('a', { begun: 0, ended: 1e6 });
    expect(problemsOf([write, read(['a']), read([]), ...deliver('one', 'a')])).toMatch(
      /no order explains: .*1 read.*0 read/,
    );
  });

  test('a gap in a stream, an event that comes twice, and a stream that ends early', () => {
    const writes = [append('a'), append('b'), append('c')];
    const [first, second, third] = deliver('one', 'a', 'b', 'c');
    const all = deliver('two', 'a', 'b', 'c');
    expect(problemsOf([...writes, first!, third!, ...all])).toMatch(/one received event 3 where 2 was next/);
    expect(problemsOf([...writes, first!, second!, second!, third!, ...all])).toMatch(
      /one received event 2 where 3 was next/,
    );
    expect(problemsOf([...writes, first!, second!, ...all])).toMatch(/one received events up to 2 of 3/);
  });

  test('a value whose write was refused', () => {
    expect(problemsOf([append('a', { outcome: 'refused' }), ...deliver('one', 'a')])).toMatch(
      /"a" was seen, and its write was refused/,
    );
  });

  test('a value that nobody wrote', () => {
    expect(problemsOf([append('a'), ...deliver('one', 'a'), read(['a', 'b'])])).toMatch(
      /"b" was seen, and nobody wrote it/,
    );
  });

  test('a value that was read, and of which no event tells', () => {
    const unknown = append('b', { outcome: 'unknown' });
    expect(problemsOf([append('a'), unknown, ...deliver('one', 'a'), read(['a', 'b'])])).toMatch(
      /"b" was read, and no event tells of it/,
    );
  });

  test('a stale read after a write that the same client was told of', () => {
    expect(problemsOf([append('a', { process: 'ada' }), read([], { process: 'ada' }), ...deliver('one', 'a')])).toMatch(
      /no order explains/,
    );
  });

  test('a list that lacks what an event had told of', () => {
    const write = append('a', { outcome: 'unknown' });
    expect(problemsOf([write, ...deliver('one', 'a'), read([])])).toMatch(/no order explains: .*event 1 "a" to one/);
  });

  test('an event that comes before its write begins', () => {
    expect(problemsOf([...deliver('one', 'a'), append('a')])).toMatch(/no order explains/);
  });

  test('writes that took effect in another order than they were acknowledged', () => {
    expect(problemsOf([append('a'), append('b'), ...deliver('one', 'b', 'a')])).toMatch(/no order explains/);
  });
});
