import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import type { ApiError } from '../../errors/api-error.ts';
import {
  BODY_TOO_LARGE,
  MALFORMED_JSON,
  MALFORMED_REQUEST,
  SERVICE_UNAVAILABLE,
  toApiError,
  UNSUPPORTED_MEDIA_TYPE,
} from '../../errors/errors.ts';

/** A problem document (RFC 9457), with a code for programs and the request's id to find its log lines. */
export function problemOf(error: ApiError, requestId: string) {
  const { definition, issues, missingScopes } = error;
  return {
    type: `/docs/errors/${definition.code}`,
    title: definition.sentence,
    status: definition.status,
    detail: error.message,
    code: definition.code,
    requestId,
    issues,
    missingScopes,
  };
}

/** The headers of an error, over any transport. */
export function errorHeaders({ definition, retryAfterSeconds }: ApiError): Record<string, string> {
  const seconds = retryAfterSeconds ?? (definition.status === 503 ? 2 : undefined);
  return {
    ...(seconds === undefined ? {} : { 'Retry-After': String(seconds) }),
    ...(definition.status === 401 ? { 'WWW-Authenticate': 'Bearer' } : {}),
  };
}

export async function sendProblem(request: FastifyRequest, reply: FastifyReply, error: ApiError): Promise<void> {
  logFailure(request, error);
  const { challenge } = request.routeOptions.config;
  await reply
    .status(error.definition.status)
    .headers(errorHeaders(error))
    .headers(challenge && error.definition.status === 401 ? { 'WWW-Authenticate': challenge(request) } : {})
    .type('application/problem+json')
    .send(JSON.stringify(problemOf(error, request.id)));
}

export function logFailure(request: FastifyRequest, { definition, cause }: ApiError): void {
  if (definition.status >= 500) request.log.error({ err: cause, code: definition.code }, 'request failed');
}

/** Turns an error of Fastify, from before the operation, into an API error. */
export function fromFastify(error: FastifyError): ApiError {
  switch (error.code) {
    case 'FST_ERR_CTP_INVALID_JSON_BODY':
    case 'FST_ERR_CTP_EMPTY_JSON_BODY':
      return MALFORMED_JSON({ cause: error });
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return BODY_TOO_LARGE({ cause: error });
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
    case 'FST_ERR_CTP_INVALID_CONTENT_TYPE':
      return UNSUPPORTED_MEDIA_TYPE({ cause: error });
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
    case 'FST_ERR_BAD_URL':
    case 'FST_ERR_ASYNC_CONSTRAINT':
      return MALFORMED_REQUEST({ cause: error });
    default:
      if (error instanceof SyntaxError) return MALFORMED_JSON({ cause: error });
      if (error.statusCode === 503) return SERVICE_UNAVAILABLE({ cause: error });
      if (error.statusCode !== undefined && error.statusCode >= 400 && error.statusCode < 500)
        return MALFORMED_REQUEST({ cause: error });
      return toApiError(error);
  }
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The `WWW-Authenticate` of a 401; `Bearer` unless the route says more. */
    challenge?: (request: FastifyRequest) => string;
  }
}
