import type { Redis } from 'ioredis';
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes, type RateLimiterAbstract } from 'rate-limiter-flexible';
import type { RequestInfo } from './context.ts';
import { RATE_LIMITED, toFaultError } from './faults.ts';

/** How often something may happen: `points` in `seconds`, for each key. */
type Rule = { points: number; seconds: number };

export type Budget = {
  /** Takes one point before the attempt, so that attempts at once cannot all slip through; 429 where none is left. */
  take(key: string): Promise<RateLimiterRes>;
  /** Gives the point back: the attempt was no failure. */
  giveBack(key: string): Promise<void>;
};

export type Limits = {
  /** Any operation, for each session, key or, without one, network. */
  requests: Budget & Rule;
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
  const budget = (name: string, rule: Rule): Budget & Rule => {
    const limiter = createLimiter(name, rule, options.redis);
    return {
      ...rule,
      async take(key) {
        try {
          return await limiter.consume(key);
        } catch (refusal) {
          if (!(refusal instanceof RateLimiterRes)) throw refusal;
          throw RATE_LIMITED({ retryAfterSeconds: Math.max(1, Math.ceil(refusal.msBeforeNext / 1000)) });
        }
      },
      giveBack: async (key) => void (await limiter.reward(key)),
    };
  };
  return {
    requests: budget('requests', { points: options.requestsPerMinute, seconds: 60 }),
    signIns: budget('sign-ins', { points: 10, seconds: 15 * 60 }),
    codeSends: budget('code-sends', { points: 5, seconds: 3600 }),
    codeTries: budget('code-tries', { points: 20, seconds: 24 * 3600 }),
  };
}

function createLimiter(name: string, { points, seconds }: Rule, redis: Redis | undefined): RateLimiterAbstract {
  const rule = { keyPrefix: `wms:${name}`, points, duration: seconds };
  const inMemory = new RateLimiterMemory(rule);
  if (!redis) return inMemory;
  return new RateLimiterRedis({ ...rule, storeClient: redis, rejectIfRedisNotReady: true, insuranceLimiter: inMemory });
}

/** Counts one request and tells the caller where they stand, in the IETF's RateLimit fields. */
export async function countRequest(
  limits: Limits,
  request: RequestInfo,
  operation: string,
  who: string,
): Promise<void> {
  const { points, seconds } = limits.requests;
  request.setHeader('RateLimit-Policy', `${points};w=${seconds}`);
  request.setHeader('RateLimit-Limit', String(points));
  try {
    const state = await limits.requests.take(`${operation} ${who}`);
    request.setHeader('RateLimit-Remaining', String(state.remainingPoints));
    request.setHeader('RateLimit-Reset', String(Math.ceil(state.msBeforeNext / 1000)));
  } catch (refusal) {
    const { retryAfterSeconds } = toFaultError(refusal);
    request.setHeader('RateLimit-Remaining', '0');
    if (retryAfterSeconds !== undefined) request.setHeader('RateLimit-Reset', String(retryAfterSeconds));
    throw refusal;
  }
}
