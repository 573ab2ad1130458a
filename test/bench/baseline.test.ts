import { expect, test, vi } from 'vitest';
import { compareWithBaseline } from '../../bench/operations/baseline.ts';

const baseline = { 'me rest': 1, 'me trpc': 0.8 };
const measured = (rest: number, trpc: number) => [
  { operation: 'me', side: 'floor' as const, ratio: 1 },
  { operation: 'me', side: 'rest' as const, ratio: rest },
  { operation: 'me', side: 'trpc' as const, ratio: trpc },
];
const silently = () => vi.spyOn(console, 'log').mockImplementation(() => {});

test('a ratio that has fallen, but not to less than half, passes without a second look', async () => {
  using _ = silently();
  const again = vi.fn<() => Promise<ReturnType<typeof measured>>>();
  expect(await compareWithBaseline(baseline, measured(0.5, 0.41), again)).toBe(true);
  expect(again).not.toHaveBeenCalled();
});

test('a ratio far above the floor may come down with other work beside it, but not under twice the floor', async () => {
  using _ = silently();
  const far = { 'me rest': 13, 'me trpc': 0.8 };
  expect(await compareWithBaseline(far, measured(2.1, 0.8), async () => measured(2.1, 0.8))).toBe(true);
  expect(await compareWithBaseline(far, measured(1.9, 0.8), async () => measured(1.9, 0.8))).toBe(false);
});

test('a ratio that was lost to the hour is found again by measuring its operation once more', async () => {
  using _ = silently();
  const again = vi.fn(async () => measured(0.9, 0.1));
  expect(await compareWithBaseline(baseline, measured(0.2, 0.8), again)).toBe(true);
  expect(again).toHaveBeenCalledExactlyOnceWith('me');
});

test('a ratio that stays below half fails, named with what it was', async () => {
  using log = silently();
  expect(await compareWithBaseline(baseline, measured(0.2, 0.8), async () => measured(0.3, 0.8))).toBe(false);
  const said = log.mock.calls.flat().join('\n');
  expect(said).toContain('FALLEN: me over rest is at 0.30 of the floor, and was at 1.');
  expect(said).not.toContain('over trpc');
});

test('what the baseline does not know is not judged', async () => {
  using _ = silently();
  expect(await compareWithBaseline({}, measured(0.01, 0.01), async () => [])).toBe(true);
});
