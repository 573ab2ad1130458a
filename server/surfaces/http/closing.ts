import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { SERVICE_UNAVAILABLE } from '../../errors/errors.ts';
import { wantsWebSocket } from './upgrade.ts';

/** How long open requests are waited for. */
const patienceMs = 10_000;
/** How long their answers may then take to be read. */
const readingMs = 3_000;

/**
 * A shutdown in two steps. While requests are still being answered, newcomers on old and new connections get a 503
 * that tells them when to come again, and each answer closes its connection. Then the server stops listening,
 * and cuts what is still open after a while.
 */
export function refuseWhileClosing(app: FastifyInstance): { isClosing(): boolean } {
  let isClosing = false;
  // A number and a mark: a collection that all requests pass through keeps those of the past from being collected early.
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
    // A WebSocket is never answered: its door closes it.
    if (!isClosing && !wantsWebSocket(request.raw)) {
      request.isOpen = true;
      open.count += 1;
    }
    return done();
  });
  app.addHook('onSend', (request, reply, payload, done) => {
    // A stream lasts as long as its reader likes; its owner ends it.
    close(request);
    if (isClosing) void reply.header('Connection', 'close');
    done(null, payload);
  });
  app.addHook('onResponse', (request, _reply, done) => {
    close(request);
    // Refused before its door saw it: its connection is nobody's, and neither the server nor the shutdown would close it.
    if (wantsWebSocket(request.raw)) request.raw.socket.destroySoon();
    done();
  });
  app.addHook('preClose', async () => {
    isClosing = true;
    const deadline = performance.now() + patienceMs;
    while (open.count > 0 && performance.now() < deadline) await delay(10);
    // A caller who does not read, or keeps a stream open, does not hold up the shutdown for ever.
    setTimeout(() => app.server.closeAllConnections(), readingMs).unref();
  });
  return { isClosing: () => isClosing };
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Whether its answer is still waited for before a shutdown. */
    isOpen: boolean;
  }
}
