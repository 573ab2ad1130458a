import { expect, onTestFinished, test, vi } from 'vitest';
import { createEventCache } from '../../server/events/event-cache.ts';

const eventOf = (id: number, text = '') => ({ id, type: 'comment.created', at: '2026-11-21T12:00:00.000Z', text });

test('keeps each event of each stream until others need the room', () => {
  const cache = createEventCache();
  const large = 'x'.repeat(64 * 1024);
  cache.add('7 task 1', eventOf(1));
  for (let id = 1; id <= 100; id += 1) cache.add('7 task 2', eventOf(id, large));
  const isKept = (stream: string, id: number) => cache.find(stream, id) !== undefined;
  expect([isKept('7 task 1', 1), isKept('7 task 2', 1), isKept('7 task 2', 100)]).toEqual([false, false, true]);
  const kept = Array.from({ length: 100 }, (_, index) => cache.find('7 task 2', index + 1)?.length ?? 0);
  const bytes = kept.reduce((sum, length) => sum + length, 0);
  expect(bytes).toBeGreaterThan(3 * 1024 * 1024);
  expect(bytes).toBeLessThanOrEqual(4 * 1024 * 1024);
  expect(cache.find('7 task 3', 100)).toBeUndefined();
});

test('replaces an event that is added again, and counts it once', () => {
  const cache = createEventCache();
  const large = 'x'.repeat(1024 * 1024);
  for (let times = 0; times < 10; times += 1) cache.add('7 task 1', eventOf(1, `${times}${large}`));
  cache.add('7 task 1', eventOf(2, large));
  expect(cache.find<ReturnType<typeof eventOf>>('7 task 1', 1)?.event.text.slice(0, 1)).toBe('9');
  expect(cache.find('7 task 1', 2)).toBeDefined();
});

test('removes events after a second: a later subscriber reads the current state', () => {
  const now = vi.spyOn(performance, 'now').mockReturnValue(10_000);
  onTestFinished(() => now.mockRestore());
  const cache = createEventCache();
  cache.add('7 task 1', eventOf(1));
  now.mockReturnValue(10_900);
  cache.add('7 task 1', eventOf(2));
  now.mockReturnValue(11_100);
  cache.prune();
  expect([cache.find('7 task 1', 1), cache.find('7 task 1', 2)?.event.id]).toEqual([undefined, 2]);
});
