import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import type { FaultError } from '../kernel/fault.ts';
import {
  BODY_TOO_LARGE,
  MALFORMED_JSON,
  MALFORMED_REQUEST,
  SERVICE_UNAVAILABLE,
  toFaultError,
  UNSUPPORTED_MEDIA_TYPE,
} from '../kernel/faults.ts';

/** RFC 9457, with a code for programs and the request's id for whoever looks into the log. */
export function problemOf(error: FaultError, requestId: string) {
  const { fault, issues } = error;
  return {
    type: `/docs/errors/${fault.code}`,
    title: fault.sentence,
    status: fault.status,
    detail: error.message,
    code: fault.code,
    requestId,
    ...(issues === undefined ? {} : { issues }),
  };
}

/** What stands beside a refusal's body, whichever door it leaves by. */
export function refusalHeaders({ fault, retryAfterSeconds }: FaultError): Record<string, string> {
  const seconds = retryAfterSeconds ?? (fault.status === 503 ? 2 : undefined);
  return {
    ...(seconds === undefined ? {} : { 'Retry-After': String(seconds) }),
    ...(fault.status === 401 ? { 'WWW-Authenticate': 'Bearer' } : {}),
  };
}

export async function sendProblem(request: FastifyRequest, reply: FastifyReply, error: FaultError): Promise<void> {
  logFailure(request, error);
  await reply
    .status(error.fault.status)
    .headers(refusalHeaders(error))
    .type('application/problem+json')
    .send(JSON.stringify(problemOf(error, request.id)));
}

export function logFailure(request: FastifyRequest, { fault, cause }: FaultError): void {
  if (fault.status >= 500) request.log.error({ err: cause, code: fault.code }, 'request failed');
}

/** What Fastify refuses before an operation is reached. */
export function fromFastify(error: FastifyError): FaultError {
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
      return toFaultError(error);
  }
}
