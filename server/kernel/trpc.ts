import { initTRPC, type TRPCError } from '@trpc/server';
import { TRPC_ERROR_CODES_BY_KEY } from '@trpc/server/rpc';
import { shortenChains } from './chain.ts';
import type { Context } from './context.ts';
import type { ApiError } from '../errors/api-error.ts';
import { toApiError } from '../errors/errors.ts';
import type { OperationMeta } from './operation.ts';

/**
 * An API error as tRPC's clients receive it, with the same `code`, `requestId`, `issues` and `missingScopes` as the problem document.
 */
export function trpcErrorOf(error: ApiError, requestId: string | undefined, path?: string) {
  const { definition, message, issues, retryAfterSeconds, missingScopes } = error;
  return {
    code: TRPC_ERROR_CODES_BY_KEY[definition.kind],
    message,
    data: {
      code: definition.code,
      httpStatus: definition.status,
      requestId,
      path,
      issues,
      retryAfterSeconds,
      missingScopes,
    },
  };
}

/** The request id of an error that occurred before a context existed. */
export const requestIdByError = new WeakMap<TRPCError, string>();

const t = initTRPC
  .context<Context>()
  .meta<OperationMeta>()
  .create({
    isDev: false,
    // Comments on a quiet event stream, so that proxies keep it open and clients notice a dead connection.
    sse: { ping: { enabled: true, intervalMs: 15_000 }, client: { reconnectAfterInactivityMs: 40_000 } },
    errorFormatter: ({ error, ctx, path }) =>
      trpcErrorOf(toApiError(error), ctx?.request.id ?? requestIdByError.get(error), path),
  });

export const { middleware, procedure } = t;

export const router = ((procedures) => {
  const made = t.router(procedures);
  shortenChains(made);
  return made;
}) as typeof t.router;
