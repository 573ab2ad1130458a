import { expect, test } from 'vitest';
import { attemptsMax, retryDelayMs } from '../../server/jobs/retry.ts';
import { MailNotTaken } from '../../server/mail/mailer.ts';

const hourMs = 3_600_000;
const failure = new Error('away');

/** The delays of a job that fails with this error each time. */
function delaysAfter(error: unknown): number[] {
  const delays: number[] = [];
  for (let attempts = 1; ; attempts += 1) {
    const delayMs = retryDelayMs(error, attempts);
    if (delayMs === undefined) return delays;
    delays.push(delayMs);
  }
}

test('the delays double from two seconds to an hour, each with its jitter, and add up to about a day', () => {
  for (let round = 0; round < 50; round += 1) {
    const delays = delaysAfter(failure);
    expect(delays).toHaveLength(attemptsMax - 1);
    for (const [index, delayMs] of delays.entries()) {
      const middleMs = Math.min(2_000 * 2 ** index, hourMs);
      expect(delayMs).toBeGreaterThanOrEqual(middleMs * 0.75);
      expect(delayMs).toBeLessThanOrEqual(middleMs * 1.25);
    }
    const sumMs = delays.reduce((sum, delayMs) => sum + delayMs, 0);
    expect(sumMs).toBeGreaterThan(18 * hourMs);
    expect(sumMs).toBeLessThan(31 * hourMs);
  }
});

test('two that failed together do not wait equally long', () => {
  expect(new Set(Array.from({ length: 20 }, () => retryDelayMs(failure, 1))).size).toBeGreaterThan(10);
});

test('a message that is refused for what it is gets three attempts; what an operator can repair gets all', () => {
  expect(delaysAfter(new MailNotTaken('bad address', { isRefused: true }))).toHaveLength(2);
  expect(delaysAfter(new MailNotTaken('bad key'))).toHaveLength(attemptsMax - 1);
});

test('a wait that the provider asks for is kept, up to an hour, and makes no wait shorter', () => {
  const asked = (retryAfterMs: number, attempts: number) =>
    retryDelayMs(new MailNotTaken('busy', { retryAfterMs }), attempts)!;
  expect(asked(60_000, 1)).toBe(60_000);
  expect(asked(100 * hourMs, 1)).toBe(hourMs);
  expect(asked(60_000, 20)).toBeGreaterThanOrEqual(0.75 * hourMs);
  expect(asked(0, 1)).toBeGreaterThanOrEqual(1_500);
});
