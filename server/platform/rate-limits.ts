import type { Redis } from 'ioredis';
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import type { ApiError } from '../errors/api-error.ts';
import { RATE_LIMITED } from '../errors/errors.ts';

/** A rate: `points` in `seconds`, for each key. */
type Rule = { points: number; seconds: number };

/** The state of a key after a point was consumed. */
export type LimitState = { remaining: number; resetAfterMs: number };

export type Budget = {
  /**
   * Consumes one point before the attempt, so that concurrent attempts cannot all pass; throws 429 if none is left, and
   * consumes nothing then. Synchronous if counted in this process alone.
   */
  consume(key: string): LimitState | Promise<LimitState>;
  /** Refunds the point: the attempt was no failure. */
  refund(key: string): void | Promise<void>;
};

export type Limits = {
  /**
   * All operations, for each session, key or, without one, network; for each employee, or account without a company;
   * and for each company. Callers see the tightest.
   */
  requests: Record<keyof RateLimitKeys, Budget & { policy: string; limit: string }>;
  /** Wrong or missing credentials, for each network: at one operation, and at all together. */
  authFailures: { operation: Budget; network: Budget };
  /** Failed sign-ins, for each address and network. */
  signIns: Budget;
  /** OAuth clients that register or whose document is fetched, for each network. */
  newClients: Budget;
  /** Sent codes, for each address. */
  codeSends: Budget;
  /** Wrong codes, for each address, from any network. */
  codeTries: Budget;
  /** Wrong codes after that, for each address and network. */
  lateCodeTries: Budget;
};

/** The keys under which a request is counted. */
export type RateLimitKeys = { caller: string; person: string | undefined; company: string | undefined };

/**
 * Counts in this process, or in Redis for all nodes together. While Redis is unavailable each node counts for itself: a
 * limit that is too high for a minute does less harm than a service that refuses everybody.
 */
export function createLimits(options: {
  requestsPerMinute: number;
  /** By default four times the limit of a caller. */
  requestsPerMinuteOfEmployee?: number;
  /** By default sixty times the limit of a caller. */
  requestsPerMinuteOfCompany?: number;
  redis?: Redis;
}): Limits {
  const budget = (name: string, rule: Rule): Budget =>
    options.redis ? createSharedBudget(name, rule, options.redis) : createLocalBudget(rule);
  const { requestsPerMinute: perMinute } = options;
  const requests = (name: string, points: number) => ({
    ...budget(name, { points, seconds: 60 }),
    policy: `${points};w=60`,
    limit: String(points),
  });
  return {
    requests: {
      caller: requests('requests', perMinute),
      person: requests('requests-employee', options.requestsPerMinuteOfEmployee ?? 4 * perMinute),
      company: requests('requests-company', options.requestsPerMinuteOfCompany ?? 60 * perMinute),
    },
    authFailures: {
      operation: budget('refusals', { points: Math.ceil(perMinute / 6), seconds: 60 }),
      network: budget('network-refusals', { points: perMinute, seconds: 60 }),
    },
    signIns: budget('sign-ins', { points: 10, seconds: 15 * 60 }),
    newClients: budget('new-clients', { points: Math.ceil(perMinute / 10), seconds: 3600 }),
    codeSends: budget('code-sends', { points: 5, seconds: 3600 }),
    codeTries: budget('code-tries', { points: 20, seconds: 24 * 3600 }),
    lateCodeTries: budget('late-code-tries', { points: 5, seconds: 24 * 3600 }),
  };
}

/** Expired keys are removed after the map has grown by this many since the last cleanup. */
const forgetEvery = 10_000;

function createLocalBudget({ points, seconds }: Rule): Budget {
  const counted = new Map<string, { taken: number; endsAt: number }>();
  let forgetAt = forgetEvery;

  function forget(now: number): void {
    for (const [key, { endsAt }] of counted) if (endsAt <= now) counted.delete(key);
    forgetAt = counted.size + forgetEvery;
  }

  return {
    consume(key) {
      const now = performance.now();
      let state = counted.get(key);
      if (!state || state.endsAt <= now) {
        if (counted.size >= forgetAt) forget(now);
        counted.set(key, (state = { taken: 0, endsAt: now + seconds * 1000 }));
      }
      const resetAfterMs = state.endsAt - now;
      if (state.taken >= points) throw tooManyRequests(resetAfterMs);
      state.taken += 1;
      return { remaining: points - state.taken, resetAfterMs };
    },
    refund(key) {
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
    async consume(key) {
      try {
        const { remainingPoints, msBeforeNext } = await limiter.consume(key);
        return { remaining: remainingPoints, resetAfterMs: msBeforeNext };
      } catch (refused) {
        if (!(refused instanceof RateLimiterRes)) throw refused;
        // The limiter has counted the refused attempt as well.
        await limiter.reward(key);
        throw tooManyRequests(refused.msBeforeNext);
      }
    },
    refund: async (key) => void (await limiter.reward(key)),
  };
}

const tooManyRequests = (waitMs: number): ApiError =>
  RATE_LIMITED({ retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)) });
