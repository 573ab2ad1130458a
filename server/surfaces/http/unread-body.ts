import type { FastifyInstance, FastifyRequest } from 'fastify';
import { REQUEST_TIMEOUT } from '../../errors/errors.ts';

/*
 * An error may be answered before the body was read. Cutting the connection while bytes are on their way would discard
 * the answer for a caller who is still sending, so the rest is read and dropped, up to a time and a size.
 */

const dropMs = 10_000;
const dropBytesMax = 64 * 1024 * 1024;
const lookMs = 200;

export function dropUnreadBodies(app: FastifyInstance): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    // A body that timed out sends nothing more.
    if (hasUnreadBody(request) && reply.statusCode !== REQUEST_TIMEOUT.status) {
      const isLast = !reply.raw.shouldKeepAlive;
      // Node cuts a connection without keep-alive as soon as the answer was sent.
      reply.header('Connection', 'keep-alive');
      drop(request, isLast);
    }
    done(null, payload);
  });
}

const hasUnreadBody = ({ raw, headers }: FastifyRequest): boolean =>
  !raw.complete && (headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0);

function drop({ raw }: FastifyRequest, isLast: boolean): void {
  const { socket } = raw;
  const bytesBefore = socket.bytesRead;
  const startedAt = performance.now();
  const timer = setInterval(() => {
    const isTooMuch = socket.bytesRead - bytesBefore > dropBytesMax || performance.now() - startedAt > dropMs;
    if (isTooMuch) socket.destroy();
  }, lookMs);
  raw.once('close', () => clearInterval(timer));
  raw.once('end', () => {
    clearInterval(timer);
    if (isLast) socket.destroySoon();
  });
  raw.resume();
}
