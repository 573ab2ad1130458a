import { expect, test } from 'vitest';
import { toIso } from '../../server/kernel/wire/iso.ts';

test('a moment reads as the platform writes it, in whatever order moments come', () => {
  const first = Date.UTC(-1, 11, 31);
  const edges = [0, -1, 1, 86_399_999, 86_400_000, -62_167_219_200_000, -62_167_219_200_001, 253_402_300_800_000];
  const moments = Array.from({ length: 5_000 }, () => first + Math.floor(Math.random() * 10_002 * 365.25 * 86_400_000));
  const near = moments.map((ms) => ms + Math.floor(Math.random() * 86_400_000));
  for (const ms of [...edges, ...moments.flatMap((one, index) => [one, near[index]!, one])])
    expect(toIso(new Date(ms))).toBe(new Date(ms).toISOString());
});

test('what is no moment is refused', () => {
  expect(() => toIso(new Date('soon'))).toThrow(RangeError);
  expect(() => toIso(new Date(NaN))).toThrow(RangeError);
  expect(toIso(new Date(0))).toBe('1970-01-01T00:00:00.000Z');
});
