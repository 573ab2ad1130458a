import { argon2id, hash, needsRehash, verify } from 'argon2';
import { createFairQueue } from './fair-queue.ts';
import { OVERLOADED } from '../errors/errors.ts';

/** OWASP's second recommendation for argon2id: 19 MiB, two passes, one lane. About 24 ms of one core. */
const owaspCost = { memoryCost: 19_456, timeCost: 2 };
export type HashCost = typeof owaspCost;

/**
 * Hashing shares libuv's few threads with file and name look-ups, so the number of running and waiting hashes is
 * bounded.
 */
const runningMax = 2;
const waitingMax = 512;
/** The most waiting hashes of one network, so that its callers delay nobody else. */
const waitingPerNetwork = 64;
const waitMsMax = 30_000;

/** The key of the fair queue: networks take turns, and within one its addresses or accounts. */
export type Turn = { network: string; who: string };

export type Passwords = {
  hash(password: string, turn?: Turn): Promise<string>;
  /**
   * Takes the same time without a hash: an unknown address must look like a wrong password. `onTurn` runs when this
   * attempt's turn has come; if it throws, nothing is hashed.
   */
  matches(stored: string | null, password: string, turn?: Turn, onTurn?: () => unknown): Promise<boolean>;
  isOutdated(stored: string): boolean;
};

/** The turn of hashing that no caller asked for. */
const service: Turn = { network: '', who: '' };

export function createPasswords(cost: HashCost = owaspCost): Passwords {
  const parameters = { type: argon2id, parallelism: 1, ...cost } as const;
  const queue = createFairQueue({ running: runningMax, waiting: waitingMax, waitingPerKey: waitingPerNetwork });
  async function inTurn<T>({ network, who }: Turn, task: () => Promise<T>): Promise<T> {
    const patience = new AbortController();
    const timer = setTimeout(() => patience.abort(OVERLOADED({ retryAfterSeconds: 5 })), waitMsMax);
    try {
      return await queue([network, who], task, patience.signal);
    } finally {
      clearTimeout(timer);
    }
  }
  let decoy: Promise<string> | undefined;
  return {
    hash: (password, turn = service) => inTurn(turn, () => hash(password, parameters)),
    matches: async (stored, password, turn = service, onTurn) => {
      decoy ??= hash('no account has this password', parameters);
      const against = stored ?? (await decoy);
      const matched = await inTurn(turn, async () => {
        await onTurn?.();
        return verify(against, password);
      });
      return matched && stored !== null;
    },
    isOutdated: (stored) => needsRehash(stored, parameters),
  };
}
