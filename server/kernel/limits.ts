import type { Redis } from 'ioredis';
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import type { RequestInfo } from './context.ts';
import { FaultError } from './fault.ts';
import { RATE_LIMITED } from './faults.ts';

/** How often something may happen: `points` in `seconds`, for each key. */
type Rule = { points: number; seconds: number };

/** Where a key stands after a point was taken. */
export type Standing = { remaining: number; resetAfterMs: number };

export type Budget = {
  /**
   * Takes one point before the attempt, so that attempts at once cannot all slip through; 429 where none is left.
   * Counted in this process alone, it answers at once.
   */
  take(key: string): Standing | Promise<Standing>;
  /** Gives the point back: the attempt was no failure. */
  giveBack(key: string): void | Promise<void>;
};

export type Limits = {
  /** Any operation, for each session, key or, without one, network. Callers are told of it in these words. */
  requests: Budget & { policy: string; limit: string };
  /** Failed sign-ins, for each address and network. */
  signIns: Budget;
  /** Codes sent, for each address. */
  codeSends: Budget;
  /** Codes tried in vain, for each address, whatever the network. */
  codeTries: Budget;
};

/**
 * Counts in this process, or in Redis for all nodes together. While Redis is away each node counts for itself:
 * a limit that is too wide for a minute does less harm than a service that refuses everybody.
 */
export function createLimits(options: { requestsPerMinute: number; redis?: Redis }): Limits {
  const budget = (name: string, rule: Rule): Budget =>
    options.redis ? createSharedBudget(name, rule, options.redis) : createLocalBudget(rule);
  const requests = { points: options.requestsPerMinute, seconds: 60 };
  return {
    requests: {
      ...budget('requests', requests),
      policy: `${requests.points};w=${requests.seconds}`,
      limit: String(requests.points),
    },
    signIns: budget('sign-ins', { points: 10, seconds: 15 * 60 }),
    codeSends: budget('code-sends', { points: 5, seconds: 3600 }),
    codeTries: budget('code-tries', { points: 20, seconds: 24 * 3600 }),
  };
}

/** Keys whose time is over are forgotten when there are this many more than at the last look. */
const forgetEvery = 10_000;

function createLocalBudget({ points, seconds }: Rule): Budget {
  const counted = new Map<string, { taken: number; endsAt: number }>();
  let forgetAt = forgetEvery;

  function forget(now: number): void {
    for (const [key, { endsAt }] of counted) if (endsAt <= now) counted.delete(key);
    forgetAt = counted.size + forgetEvery;
  }

  return {
    take(key) {
      const now = performance.now();
      let state = counted.get(key);
      if (!state || state.endsAt <= now) {
        if (counted.size >= forgetAt) forget(now);
        counted.set(key, (state = { taken: 0, endsAt: now + seconds * 1000 }));
      }
      state.taken += 1;
      const resetAfterMs = state.endsAt - now;
      if (state.taken > points) throw refusal(resetAfterMs);
      return { remaining: points - state.taken, resetAfterMs };
    },
    giveBack(key) {
      const state = counted.get(key);
      if (state) state.taken -= 1;
    },
  };
}

function createSharedBudget(name: string, { points, seconds }: Rule, redis: Redis): Budget {
  const rule = { keyPrefix: `wms:${name}`, points, duration: seconds };
  const limiter = new RateLimiterRedis({
    ...rule,
    storeClient: redis,
    rejectIfRedisNotReady: true,
    insuranceLimiter: new RateLimiterMemory(rule),
  });
  return {
    async take(key) {
      try {
        const { remainingPoints, msBeforeNext } = await limiter.consume(key);
        return { remaining: remainingPoints, resetAfterMs: msBeforeNext };
      } catch (refused) {
        throw refused instanceof RateLimiterRes ? refusal(refused.msBeforeNext) : refused;
      }
    },
    giveBack: async (key) => void (await limiter.reward(key)),
  };
}

const refusal = (waitMs: number): FaultError =>
  RATE_LIMITED({ retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)) });

/** Counts one request and tells the caller where they stand, in the IETF's RateLimit fields. */
export function countRequest(
  limits: Limits,
  request: RequestInfo,
  operation: string,
  who: string,
): void | Promise<void> {
  const { policy, limit } = limits.requests;
  request.setHeader('RateLimit-Policy', policy);
  request.setHeader('RateLimit-Limit', limit);
  const tell = ({ remaining, resetAfterMs }: Standing) => {
    request.setHeader('RateLimit-Remaining', String(remaining));
    request.setHeader('RateLimit-Reset', String(Math.ceil(resetAfterMs / 1000)));
  };
  const refuse = (error: unknown): never => {
    if (error instanceof FaultError && error.retryAfterSeconds !== undefined)
      tell({ remaining: 0, resetAfterMs: error.retryAfterSeconds * 1000 });
    throw error;
  };
  try {
    const standing = limits.requests.take(`${operation} ${who}`);
    return standing instanceof Promise ? standing.then(tell, refuse) : tell(standing);
  } catch (error) {
    return refuse(error);
  }
}
