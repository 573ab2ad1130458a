const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;

/** The delays between attempts, of which there is one more: the schedule of Standard Webhooks, three days in all. */
const delaysMs = [
  5 * secondMs,
  5 * minuteMs,
  30 * minuteMs,
  2 * hourMs,
  5 * hourMs,
  10 * hourMs,
  14 * hourMs,
  20 * hourMs,
  24 * hourMs,
];
/** The longest that a receiver may ask to wait. */
const askedMaxMs = 24 * hourMs;
/** Each delay is longer by up to this part, so that messages that failed together are not retried together. */
const jitter = 0.1;

/** An endpoint that has failed for so long is disabled. */
export const failingMaxMs = 5 * 24 * hourMs;

/** The delay before the next attempt, by the number of the one that failed; undefined after the last. */
export function retryDelayMs(attempt: number, askedMs: number): number | undefined {
  const delayMs = delaysMs[attempt - 1];
  if (delayMs === undefined) return undefined;
  return Math.max(delayMs * (1 + Math.random() * jitter), Math.min(askedMs, askedMaxMs));
}

/** How long the header `Retry-After` asks to wait: a number of seconds, or a moment. */
export function parseRetryAfter(value: string | undefined, now: Date): number {
  if (value === undefined) return 0;
  const ms = /^\d+$/.test(value) ? Number(value) * secondMs : Date.parse(value) - now.getTime();
  return Number.isFinite(ms) ? Math.max(0, ms) : 0;
}
