import { isRetryable } from '../errors/errors.ts';
import type { Services } from './context.ts';

const attemptsMax = 3;

/** Runs a transaction again if it loses a deadlock or the like, up to three attempts. */
export async function retryLost<Answer>({ log }: Services, run: () => Promise<Answer>): Promise<Answer> {
  for (let attempt = 1; ; attempt += 1)
    try {
      return await run();
    } catch (error) {
      if (attempt >= attemptsMax || !isRetryable(error)) throw error;
      log.warn({ err: error, attempt }, 'a transaction lost against another one and is run again');
    }
}
