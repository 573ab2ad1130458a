import type { Socket } from 'node:net';
import type { ConnectionError } from 'fastify';
import { MALFORMED_REQUEST } from '../kernel/faults.ts';
import { problemOf } from './problem.ts';

/** How long a caller has to read the refusal before the connection is cut. */
const lingerMs = 1_000;

/** Answers what is no HTTP at all, and so never becomes a request. */
export function answerGarbage(error: ConnectionError, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const requestId = crypto.randomUUID();
  const isTooLarge = error.code === 'HPE_HEADER_OVERFLOW';
  const refusal = MALFORMED_REQUEST(isTooLarge ? { detail: 'The headers are too large.' } : {});
  const body = JSON.stringify(problemOf(refusal, requestId));
  const head = [
    'HTTP/1.1 400 Bad Request',
    'Content-Type: application/problem+json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${requestId}`,
    'Cache-Control: no-store',
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  // Cutting at once would take the answer back from a caller who is still sending.
  socket.resume();
  setTimeout(() => socket.destroy(), lingerMs).unref();
}
