import { describe, expect, test } from 'vitest';
import { durationText, findRoom, parseDay, parseDuration } from '../../client-sdk/command/durations.ts';

describe('a duration', () => {
  test.for([
    ['2h', 7200],
    ['1h30m', 5400],
    ['1h 30m', 5400],
    ['90m', 5400],
    ['90min', 5400],
    ['1.5h', 5400],
    ['1:30', 5400],
    ['24h', 86_400],
  ] as const)('is %s', ([text, seconds]) => {
    expect(parseDuration(text)).toBe(seconds);
  });

  test.for(['', '0h', '0m', '2', '25h', '-1h', '1h1h', 'h', 'two hours', '1:75', '1e3h'])('is not "%s"', (text) => {
    expect(parseDuration(text)).toBeUndefined();
  });

  test('is said in hours and minutes', () => {
    expect([59, 60, 3600, 5400].map(durationText)).toEqual(['1 min', '1 min', '1 h', '1 h 30 min']);
    expect([12, 0, -5400].map(durationText)).toEqual(['12 s', '0 h', '-1 h 30 min']);
  });
});

const now = new Date(2026, 2, 2, 11, 0);
const at = (hour: number, minute = 0, day = 2): number => new Date(2026, 2, day, hour, minute).getTime();

test('a day is named or written, and must exist', () => {
  expect(parseDay('today', now)).toEqual(new Date(2026, 2, 2));
  expect(parseDay('yesterday', now)).toEqual(new Date(2026, 2, 1));
  expect(parseDay('2026-02-28', now)).toEqual(new Date(2026, 1, 28));
  for (const text of ['2026-02-30', '2026-13-01', '26-1-1', 'tomorrow', ''])
    expect(parseDay(text, now)).toBeUndefined();
});

describe('time without a clock', () => {
  const hour = 3_600_000;
  const today = new Date(2026, 2, 2);
  const before = new Date(2026, 2, 1);

  test('ends now, today', () => {
    expect(findRoom(hour, today, [], now)).toEqual({ start: at(10), end: at(11) });
  });

  test('goes before what is logged today, into the last gap that is long enough', () => {
    const taken = [
      { start: at(10, 30), end: at(12) },
      { start: at(9, 45), end: at(10) },
    ];
    expect(findRoom(hour, today, taken, now)).toEqual({ start: at(8, 45), end: at(9, 45) });
    expect(findRoom(hour / 2, today, taken, now)).toEqual({ start: at(10), end: at(10, 30) });
  });

  test('begins before midnight, shortly after it, and is never wholly on the day before', () => {
    const early = new Date(at(0, 15));
    expect(findRoom(hour, today, [], early)).toEqual({ start: at(23, 15, 1), end: at(0, 15) });
    const taken = [{ start: at(23, 30, 1), end: at(0, 10) }];
    expect(findRoom(hour, today, taken, early)).toBeUndefined();
  });

  test('begins at nine on another day, after what is logged', () => {
    expect(findRoom(hour, before, [], now)).toEqual({ start: at(9, 0, 1), end: at(10, 0, 1) });
    const taken = [{ start: at(8, 0, 1), end: at(9, 30, 1) }];
    expect(findRoom(hour, before, taken, now)).toEqual({ start: at(9, 30, 1), end: at(10, 30, 1) });
  });

  test('begins at midnight where there is too much of it, and has no room in a full day', () => {
    expect(findRoom(20 * hour, before, [], now)).toEqual({ start: at(0, 0, 1), end: at(20, 0, 1) });
    expect(findRoom(hour, before, [{ start: at(0, 0, 1), end: at(23, 30, 1) }], now)).toBeUndefined();
  });
});
