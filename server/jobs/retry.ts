import { MailNotTaken } from '../mail/mailer.ts';

/** Attempts of mail that is refused for its address or content: a passing fault would not refuse it three times. */
const refusedAttemptsMax = 3;
/** Attempts before a job is dead-lettered. The delays between them add up to a day, plus or minus a quarter. */
export const attemptsMax = 35;

const firstDelayMs = 2_000;
/** The longest delay, also after the provider is back or when it asks for more. */
const longestDelayMs = 3_600_000;

/**
 * The delay before the next attempt of a job after a number of failures; undefined if it is to be dead-lettered.
 *
 * Mail that is refused for its address or content is dead-lettered early, because only a change of either helps. A
 * refused API key, an account without credit or a wrong provider URL is retried like an outage: an operator can repair
 * it.
 */
export function retryDelayMs(error: unknown, attempts: number): number | undefined {
  const { isRefused, retryAfterMs = 0 } = error instanceof MailNotTaken ? error : { isRefused: false };
  if (attempts >= (isRefused ? refusedAttemptsMax : attemptsMax)) return undefined;
  // With jitter, so that jobs that failed together are not retried together.
  const backoffMs = Math.min(firstDelayMs * 2 ** (attempts - 1), longestDelayMs) * (0.75 + Math.random() / 2);
  return Math.max(backoffMs, Math.min(retryAfterMs, longestDelayMs));
}
