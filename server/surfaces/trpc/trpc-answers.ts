import type { TRPCError } from '@trpc/server';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ApiError } from '../../errors/api-error.ts';
import { toApiError } from '../../errors/errors.ts';
import { trpcErrorOf } from '../../kernel/trpc.ts';
import { logFailure, errorHeaders } from '../http/problem.ts';

/* Answers of tRPC that the fast path and tRPC's own handler share. */

/** The procedures that a request to /trpc names; a batch names several. */
export function calledPaths(request: FastifyRequest): string[] {
  // A URL that cannot be decoded has no parameters.
  const { path = '' } = (request.params ?? {}) as { path?: string };
  return path.split(',');
}

export function isTrpc(url: string): boolean {
  return /^\/trpc(?:[/?]|$)/.test(url);
}

export function logTrpcFailure(request: FastifyRequest, error: TRPCError, operation: string | undefined): void {
  const apiError = toApiError(error);
  if (apiError.definition.status >= 500)
    request.log.error({ err: apiError.cause ?? apiError, code: apiError.definition.code, operation }, 'request failed');
}

/** The headers of an answer with these errors; of several times after which the caller may retry, the longest. */
export function headersOf(errors: readonly ApiError[]): Record<string, string> {
  const waitOf = (headers: Record<string, string>) => Number(headers['Retry-After'] ?? 0);
  const each = errors.map(errorHeaders).toSorted((a, b) => waitOf(a) - waitOf(b));
  return Object.assign({}, ...each) as Record<string, string>;
}

/** Sends an error from before tRPC, in the shape that its clients understand. */
export async function sendTrpcError(request: FastifyRequest, reply: FastifyReply, error: ApiError): Promise<void> {
  logFailure(request, error);
  const [path, ...others] = calledPaths(request);
  await reply
    .status(error.definition.status)
    .headers(errorHeaders(error))
    .type('application/json')
    .send(
      JSON.stringify({ error: trpcErrorOf(error, request.id, others.length === 0 && path !== '' ? path : undefined) }),
    );
}
