import { argon2id, hash, needsRehash, verify } from 'argon2';
import { createTurnstile } from './turnstile.ts';

/** OWASP's second recommendation for argon2id: 19 MiB, two passes, one lane. About 24 ms of one core. */
const parameters = { type: argon2id, memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

/** Hashing shares libuv's few threads with file and name look-ups, so only so many run and wait at once. */
const runningMax = 2;
const waitingMax = 64;

export type Passwords = {
  hash(password: string): Promise<string>;
  /**
   * Takes the same time where there is no hash: an unknown address must look like a wrong password.
   * `onTurn` runs when this attempt's turn has come; where it throws, nothing is hashed.
   */
  matches(stored: string | null, password: string, onTurn?: () => unknown): Promise<boolean>;
  isOutdated(stored: string): boolean;
};

export function createPasswords(): Passwords {
  const turn = createTurnstile(runningMax, waitingMax);
  let decoy: Promise<string> | undefined;
  return {
    hash: (password) => turn(() => hash(password, parameters)),
    matches: async (stored, password, onTurn) => {
      decoy ??= hash('no account has this password', parameters);
      const against = stored ?? (await decoy);
      const matched = await turn(async () => {
        await onTurn?.();
        return verify(against, password);
      });
      return matched && stored !== null;
    },
    isOutdated: (stored) => needsRehash(stored, parameters),
  };
}
