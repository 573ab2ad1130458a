import { expect, test } from 'vitest';
import { triesMax, waitAfter } from '../../server/delivery/retry.ts';
import { MailNotTaken } from '../../server/mail/mailer.ts';

const hourMs = 3_600_000;
const failure = new Error('away');

/** All waits of a delivery that always fails so. */
function waitsAfter(error: unknown): number[] {
  const waits: number[] = [];
  for (let tries = 1; ; tries += 1) {
    const waitMs = waitAfter(error, tries);
    if (waitMs === undefined) return waits;
    waits.push(waitMs);
  }
}

test('the waits double from two seconds to an hour, each with its jitter, and add up to about a day', () => {
  for (let round = 0; round < 50; round += 1) {
    const waits = waitsAfter(failure);
    expect(waits).toHaveLength(triesMax - 1);
    for (const [index, waitMs] of waits.entries()) {
      const middleMs = Math.min(2_000 * 2 ** index, hourMs);
      expect(waitMs).toBeGreaterThanOrEqual(middleMs * 0.75);
      expect(waitMs).toBeLessThanOrEqual(middleMs * 1.25);
    }
    const sumMs = waits.reduce((sum, waitMs) => sum + waitMs, 0);
    expect(sumMs).toBeGreaterThan(18 * hourMs);
    expect(sumMs).toBeLessThan(31 * hourMs);
  }
});

test('two that failed together do not wait equally long', () => {
  expect(new Set(Array.from({ length: 20 }, () => waitAfter(failure, 1))).size).toBeGreaterThan(10);
});

test('a message that is refused for what it is gets three tries; what an operator can mend gets all', () => {
  expect(waitsAfter(new MailNotTaken('bad address', { isRefused: true }))).toHaveLength(2);
  expect(waitsAfter(new MailNotTaken('bad key'))).toHaveLength(triesMax - 1);
});

test('a wait that the provider asks for is kept, up to an hour, and makes no wait shorter', () => {
  const asked = (retryAfterMs: number, tries: number) => waitAfter(new MailNotTaken('busy', { retryAfterMs }), tries)!;
  expect(asked(60_000, 1)).toBe(60_000);
  expect(asked(100 * hourMs, 1)).toBe(hourMs);
  expect(asked(60_000, 20)).toBeGreaterThanOrEqual(0.75 * hourMs);
  expect(asked(0, 1)).toBeGreaterThanOrEqual(1_500);
});
