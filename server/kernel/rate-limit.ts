import { ApiError } from '../errors/api-error.ts';
import type { Budget, RateLimitKeys, Limits, LimitState } from '../platform/rate-limits.ts';
import type { RequestInfo } from './context.ts';

const kinds = ['caller', 'person', 'company'] as const;

type Counted = LimitState & { kind: (typeof kinds)[number]; key: string; refused?: ApiError };

/**
 * Counts one request in each of its budgets, and tells the caller the state of the tightest in the IETF's RateLimit
 * fields. A request that one budget refuses consumes nothing from the others.
 */
export function countRequest(
  limits: Limits,
  request: RequestInfo,
  operation: string,
  names: RateLimitKeys,
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
      its ? [] : [Promise.resolve(requests[kind].refund(key))],
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

/** Consumes a point of one budget; returns an error instead of throwing it. */
function count(budget: Budget, kind: Counted['kind'], key: string): Counted | Promise<Counted> {
  const refuse = (error: unknown): Counted => {
    if (!(error instanceof ApiError)) throw error;
    return { kind, key, remaining: -1, resetAfterMs: (error.retryAfterSeconds ?? 0) * 1000, refused: error };
  };
  try {
    const standing = budget.consume(key);
    if (standing instanceof Promise) return standing.then((its) => ({ ...its, kind, key }), refuse);
    return { ...standing, kind, key };
  } catch (error) {
    return refuse(error);
  }
}

/**
 * Counts wrong or missing credentials against their network; returns the same error or, beyond the limit, 429. Valid
 * credentials are not counted.
 */
export async function countAuthFailure(
  { authFailures }: Limits,
  error: ApiError,
  { network, operation }: { network: string; operation: string },
): Promise<ApiError> {
  try {
    await Promise.all([
      authFailures.operation.consume(`${operation} ${network}`),
      authFailures.network.consume(network),
    ]);
    return error;
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}
