import { MailNotTaken } from '../mail/mailer.ts';

/** Two tries and their waits outlive a passing fault; a refusal that comes three times is meant. */
const refusalsMax = 3;
/** Tries before a delivery is parked. The waits between them add up to a day, give or take a quarter. */
export const triesMax = 35;

const firstWaitMs = 2_000;
/** Also the longest that a provider which is back may have to wait for us, and that it may make us wait. */
const longestWaitMs = 3_600_000;

/**
 * What to do with a delivery that has failed that many times: the wait until its next try, or none, and it is parked
 * for an operator to look at.
 *
 * Mail that is refused for its address or its content is parked soon: nothing but a change of either helps. A key that
 * is refused, an account that is out of credit and an address of the provider that is wrong are tried like an outage,
 * for the operator can mend them and all mail goes out then.
 */
export function waitAfter(error: unknown, tries: number): number | undefined {
  const { isRefused, retryAfterMs = 0 } = error instanceof MailNotTaken ? error : { isRefused: false };
  if (tries >= (isRefused ? refusalsMax : triesMax)) return undefined;
  // With jitter, so that what failed together is not tried together.
  const backoffMs = Math.min(firstWaitMs * 2 ** (tries - 1), longestWaitMs) * (0.75 + Math.random() / 2);
  return Math.max(backoffMs, Math.min(retryAfterMs, longestWaitMs));
}
