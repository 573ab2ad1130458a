import { expect, test } from 'vitest';
import { createLimits } from '../../server/platform/rate-limits.ts';

/** How many of the given attempts are let through. */
function attempt(attempts: number): number {
  const tries = Array.from({ length: attempts }, () => {
    try {
      return lateCodeTries.consume('ada@example.com');
    } catch {
      return undefined;
    }
  });
  return tries.filter((state) => state !== undefined).length;
}

const { lateCodeTries } = createLimits({ requestsPerMinute: 600 });

test('a refused attempt consumes nothing: what is refunded can be consumed again', () => {
  expect(attempt(64)).toBe(5);
  for (let nth = 0; nth < 2; nth += 1) void lateCodeTries.refund('ada@example.com');
  expect(attempt(64)).toBe(2);
});
