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
  /**
   * Any operation, for each session, key or, without one, network; for each employee, or account without a company; and
   * for each company. Callers are told of the tightest.
   */
  requests: Record<keyof CountedAs, Budget & { policy: string; limit: string }>;
  /** Wrong or missing credentials, for each network: at one operation, and at all of them together. */
  refusals: { operation: Budget; network: Budget };
  /** Failed sign-ins, for each address and network. */
  signIns: Budget;
  /** Codes sent, for each address. */
  codeSends: Budget;
  /** Codes tried in vain, for each address, whatever the network. */
  codeTries: Budget;
  /** Codes tried in vain after that, for each address and network. */
  lateCodeTries: Budget;
};

/** By which names a request is counted. */
export type CountedAs = { caller: string; person: string | undefined; company: string | undefined };

/**
 * Counts in this process, or in Redis for all nodes together. While Redis is away each node counts for itself:
 * a limit that is too wide for a minute does less harm than a service that refuses everybody.
 */
export function createLimits(options: {
  requestsPerMinute: number;
  /** Four times as many by default. */
  requestsPerMinuteOfEmployee?: number | undefined;
  /** Sixty times as many by default. */
  requestsPerMinuteOfCompany?: number | undefined;
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
    refusals: {
      operation: budget('refusals', { points: Math.ceil(perMinute / 6), seconds: 60 }),
      network: budget('network-refusals', { points: perMinute, seconds: 60 }),
    },
    signIns: budget('sign-ins', { points: 10, seconds: 15 * 60 }),
    codeSends: budget('code-sends', { points: 5, seconds: 3600 }),
    codeTries: budget('code-tries', { points: 20, seconds: 24 * 3600 }),
    lateCodeTries: budget('late-code-tries', { points: 5, seconds: 24 * 3600 }),
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

const kinds = ['caller', 'person', 'company'] as const;

type Counted = Standing & { kind: (typeof kinds)[number]; key: string; refused?: FaultError };

/**
 * Counts one request in each budget that it is of, and tells the caller where they stand in the tightest, in the IETF's
 * RateLimit fields. A request that one budget refuses costs the others nothing.
 */
export function countRequest(
  limits: Limits,
  request: RequestInfo,
  operation: string,
  names: CountedAs,
): void | Promise<void> {
  const { requests } = limits;

  function finish(counted: Counted[]): void | Promise<void> {
    let tightest = counted[0]!;
    for (const one of counted) if (one.remaining < tightest.remaining) tightest = one;
    const { policy, limit } = requests[tightest.kind];
    request.setHeader('RateLimit-Policy', policy);
    request.setHeader('RateLimit-Limit', limit);
    request.setHeader('RateLimit-Remaining', String(Math.max(0, tightest.remaining)));
    request.setHeader('RateLimit-Reset', String(Math.ceil(tightest.resetAfterMs / 1000)));
    const { refused } = tightest;
    if (!refused) return undefined;
    const returned = counted.flatMap(({ kind, key, refused: its }) =>
      its ? [] : [Promise.resolve(requests[kind].giveBack(key))],
    );
    return Promise.all(returned).then(() => {
      throw refused;
    });
  }

  const counting: (Counted | Promise<Counted>)[] = [];
  for (const kind of kinds) {
    const name = names[kind];
    if (name !== undefined) counting.push(count(requests[kind], kind, `${operation} ${name}`));
  }
  return counting[0] instanceof Promise
    ? Promise.all(counting.map((one) => Promise.resolve(one))).then(finish)
    : finish(counting as Counted[]);
}

/** Takes a point of one budget, and answers a refusal instead of throwing it. */
function count(budget: Budget, kind: Counted['kind'], key: string): Counted | Promise<Counted> {
  const refuse = (error: unknown): Counted => {
    if (!(error instanceof FaultError)) throw error;
    return { kind, key, remaining: -1, resetAfterMs: (error.retryAfterSeconds ?? 0) * 1000, refused: error };
  };
  try {
    const standing = budget.take(key);
    if (standing instanceof Promise) return standing.then((its) => ({ ...its, kind, key }), refuse);
    return { ...standing, kind, key };
  } catch (error) {
    return refuse(error);
  }
}

/**
 * Counts wrong or missing credentials against their network, and answers what is refused with: the same, or, beyond the
 * limit, 429. Those who have good credentials are not asked.
 */
export async function countRefusal(
  { refusals }: Limits,
  refusal: FaultError,
  { network, operation }: { network: string; operation: string },
): Promise<FaultError> {
  try {
    await Promise.all([refusals.operation.take(`${operation} ${network}`), refusals.network.take(network)]);
    return refusal;
  } catch (error) {
    if (error instanceof FaultError) return error;
    throw error;
  }
}
