import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { SERVICE_UNAVAILABLE } from '../../errors/errors.ts';
import { wantsWebSocket } from './upgrade.ts';

/** The time for open requests to finish. */
const patienceMs = 10_000;
/** The time for callers to read their answers after that. */
const readingMs = 3_000;

/**
 * A shutdown in two steps. While requests are still being answered, new requests get a 503 with a time to retry, and
 * each answer closes its connection. Then the server stops listening, and cuts connections that stay open.
 */
export function refuseWhileClosing(app: FastifyInstance): { isClosing(): boolean } {
  let isClosing = false;
  // A counter and a flag, not a set: a set that all requests pass through would keep garbage alive.
  const open = { count: 0 };
  app.decorateRequest('isOpen', false);
  const close = (request: FastifyRequest): void => {
    if (!request.isOpen) return;
    request.isOpen = false;
    open.count -= 1;
  };

  app.addHook('onRequest', (request, _reply, done) => {
    if (isClosing && !request.routeOptions.config.servesWhileClosing)
      return done(SERVICE_UNAVAILABLE({ detail: 'The service is shutting down: try again shortly.' }));
    // A WebSocket has no answer: its handler closes it.
    if (!isClosing && !wantsWebSocket(request.raw)) {
      request.isOpen = true;
      open.count += 1;
    }
    return done();
  });
  app.addHook('onSend', (request, reply, payload, done) => {
    // A stream has no end of its own; its owner ends it.
    close(request);
    if (isClosing) void reply.header('Connection', 'close');
    done(null, payload);
  });
  app.addHook('onResponse', (request, _reply, done) => {
    close(request);
    // No handler owns a WebSocket that was refused here, so neither the server nor the shutdown would close it.
    if (wantsWebSocket(request.raw)) request.raw.socket.destroySoon();
    done();
  });
  app.addHook('preClose', async () => {
    isClosing = true;
    const deadline = performance.now() + patienceMs;
    while (open.count > 0 && performance.now() < deadline) await delay(10);
    // A caller who does not read, or keeps a stream open, cannot delay the shutdown for ever.
    const cut = setTimeout(() => app.server.closeAllConnections(), readingMs).unref();
    app.server.once('close', () => clearTimeout(cut));
  });
  return { isClosing: () => isClosing };
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Whether a shutdown waits for its answer. */
    isOpen: boolean;
  }
}
