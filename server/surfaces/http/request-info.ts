import type { FastifyRequest } from 'fastify';
import { authenticate } from '../../kernel/authentication.ts';
import type { RequestInfo, Services } from '../../kernel/context.ts';
import { ApiError } from '../../errors/api-error.ts';
import { toApiError } from '../../errors/errors.ts';
import { countAuthFailure } from '../../kernel/rate-limit.ts';
import { logError } from '../../kernel/security-log.ts';
import { releaseConnection } from './connection-cap.ts';
import { networkOf } from './network.ts';

type ReplyHeaders = { header(name: string, value: string): unknown };

/** The request as operations see it, the same over all transports. */
export function requestInfo(request: FastifyRequest, reply: ReplyHeaders): RequestInfo {
  if (request.info) return request.info;
  const { headers, raw } = request;
  return {
    id: request.id,
    transport: 'trpc',
    network: networkOf(request.ip),
    userAgent: headers['user-agent']?.slice(0, 300) ?? null,
    bearer: bearerOf(headers.authorization),
    refreshToken: single(headers['x-refresh-token']),
    idempotencyKey: single(headers['idempotency-key']),
    isHead: request.method === 'HEAD',
    setHeader: (name, value) => void reply.header(name, value),
    noteAuthenticated: () => releaseConnection(raw.socket),
  };
}

/** Authenticates the caller before the body is read, and stores them for the operation. */
export async function authenticateCaller(
  request: FastifyRequest,
  reply: ReplyHeaders,
  services: Services,
  done: (error?: Error) => void,
): Promise<void> {
  const info = requestInfo(request, reply);
  request.info = info;
  let failure: Error | undefined;
  try {
    info.caller = await authenticate({ services, request: info });
  } catch (error) {
    failure = error as Error;
    const operation = request.routeOptions.config.operation ?? (request.params as { path: string }).path;
    logError({ services, request: info }, operation, undefined, toApiError(error));
    if (error instanceof ApiError && error.definition.status === 401)
      failure = await countAuthFailure(services.limits, error, { network: info.network, operation });
  }
  done(failure);
}

const saneId = /^[A-Za-z0-9._:-]{1,128}$/;

/** Uses the caller's request id if it is safe in a log. */
export function requestIdOf(headers: NodeJS.Dict<string | string[]>): string {
  const given = single(headers['x-request-id']);
  return given !== undefined && saneId.test(given) ? given : crypto.randomUUID();
}

function bearerOf(header: string | undefined): string | undefined {
  return header === undefined ? undefined : /^Bearer +(\S+)$/i.exec(header)?.[1];
}

function single(header: string | string[] | undefined): string | undefined {
  const value = Array.isArray(header) ? header[0] : header;
  return value === undefined || value === '' ? undefined : value;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set before the body was read, if the operation needs a caller. */
    info?: RequestInfo;
  }
}
