import { expect, test, vi } from 'vitest';
import { createRecent } from '../../server/delivery/recent.ts';

const eventOf = (id: number, text = '') => ({ id, type: 'comment.created', at: '2026-11-21T12:00:00.000Z', text });

test('keeps each event of each stream until others need the room', () => {
  const recent = createRecent();
  const large = 'x'.repeat(64 * 1024);
  recent.keep('7 task 1', eventOf(1));
  for (let id = 1; id <= 100; id += 1) recent.keep('7 task 2', eventOf(id, large));
  const isKept = (stream: string, id: number) => recent.find(stream, id) !== undefined;
  expect([isKept('7 task 1', 1), isKept('7 task 2', 1), isKept('7 task 2', 100)]).toEqual([false, false, true]);
  const kept = Array.from({ length: 100 }, (_, index) => recent.find('7 task 2', index + 1)?.length ?? 0);
  const bytes = kept.reduce((sum, length) => sum + length, 0);
  expect(bytes).toBeGreaterThan(3 * 1024 * 1024);
  expect(bytes).toBeLessThanOrEqual(4 * 1024 * 1024);
  expect(recent.find('7 task 3', 100)).toBeUndefined();
});

test('keeps an event that is kept again as it was shown last, and counts it once', () => {
  const recent = createRecent();
  const large = 'x'.repeat(1024 * 1024);
  for (let times = 0; times < 10; times += 1) recent.keep('7 task 1', eventOf(1, `${times}${large}`));
  recent.keep('7 task 1', eventOf(2, large));
  expect(recent.find<ReturnType<typeof eventOf>>('7 task 1', 1)?.event.text.slice(0, 1)).toBe('9');
  expect(recent.find('7 task 1', 2)).toBeDefined();
});

test('lets go of events that are no longer news: who comes later sees things as they are then', () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  try {
    const recent = createRecent();
    recent.keep('7 task 1', eventOf(1));
    vi.advanceTimersByTime(900);
    recent.keep('7 task 1', eventOf(2));
    vi.advanceTimersByTime(200);
    recent.prune();
    expect([recent.find('7 task 1', 1), recent.find('7 task 1', 2)?.event.id]).toEqual([undefined, 2]);
  } finally {
    vi.useRealTimers();
  }
});
