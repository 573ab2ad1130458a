import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { ConnectionError } from 'fastify';
import type { ApiError } from '../../errors/api-error.ts';
import { MALFORMED_REQUEST, REQUEST_TIMEOUT } from '../../errors/errors.ts';
import { problemOf, errorHeaders } from './problem.ts';

/** The time for a caller to read the error before the connection is cut. */
const lingerMs = 1_000;

/** Answers bytes that are not HTTP, and so never become a request. */
export function answerMalformedRequest(error: ConnectionError, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  answerRaw(apiErrorOf(error), socket);
}

function apiErrorOf({ code }: ConnectionError): ApiError {
  // Node's codes for errors and time-outs of its parser.
  const known: Record<string, ApiError> = {
    ERR_HTTP_REQUEST_TIMEOUT: REQUEST_TIMEOUT(),
    HPE_HEADER_OVERFLOW: MALFORMED_REQUEST({ detail: 'The headers are too large.' }),
    HPE_INVALID_METHOD: MALFORMED_REQUEST({ detail: 'The request has no method that HTTP knows.' }),
  };
  return known[code] ?? MALFORMED_REQUEST({ cause: code });
}

/** Answers on the connection itself, without a request, and ends it; returns the request id of the answer. */
export function answerRaw(error: ApiError, socket: Socket): string {
  const requestId = crypto.randomUUID();
  const { status } = error.definition;
  const body = JSON.stringify(problemOf(error, requestId));
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]!}`,
    'Content-Type: application/problem+json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${requestId}`,
    ...Object.entries(errorHeaders(error)).map(([name, value]) => `${name}: ${value}`),
    'Cache-Control: no-store',
    // It contains nothing personal, so pages of any origin may read it.
    'Access-Control-Allow-Origin: *',
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  // Cutting at once would discard the answer for a caller who is still sending.
  socket.resume();
  setTimeout(() => socket.destroy(), lingerMs).unref();
  return requestId;
}
