import { setTimeout as delay } from 'node:timers/promises';
import websocket from '@fastify/websocket';
import type { AnyTRPCRouter } from '@trpc/server';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Services } from '../../kernel/context.ts';
import { MALFORMED_REQUEST, ROUTE_NOT_FOUND, toApiError } from '../../errors/errors.ts';
import { logError } from '../../kernel/security-log.ts';
import { bodyBytesMax } from '../http/body.ts';
import { wantsWebSocket } from '../http/upgrade.ts';
import { allowedOrigins, refuseStrangeOrigin } from '../http/origins.ts';
import { callerOf, operation, serveWebSocket } from './serve-websocket.ts';

type SocketOptions = { corsOrigins: string[]; publicUrl: string };

/** How long sockets have to close when the service stops. */
const closeMs = 1_200;

/** The operations and subscriptions over a WebSocket, at /trpc itself. */
export async function registerWebSocket(
  app: FastifyInstance,
  router: AnyTRPCRouter,
  services: Services,
  options: SocketOptions,
): Promise<void> {
  await app.register((scope) => addRoute(scope, router, services, options));
}

async function addRoute(
  app: FastifyInstance,
  router: AnyTRPCRouter,
  services: Services,
  options: SocketOptions,
): Promise<void> {
  const { connections } = services;
  const origins = allowedOrigins(options);
  await app.register(websocket, {
    options: { maxPayload: bodyBytesMax },
    preClose: (done) => done(),
    // A message is too large or malformed: `ws` has closed the socket with the code for that.
    errorHandler: (error, socket, request) => {
      request.log.info({ err: error }, 'a WebSocket broke');
      setTimeout(() => socket.terminate(), closeMs).unref();
    },
  });
  app.addHook('preClose', async () => {
    connections.closeAll();
    for (let waited = 0; connections.count() > 0 && waited < closeMs; waited += 20) await delay(20);
    for (const socket of app.websocketServer.clients) socket.terminate();
  });

  app.route({
    method: 'GET',
    url: '/trpc',
    exposeHeadRoute: false,
    onRequest: async (request) => {
      if (!wantsWebSocket(request.raw))
        throw ROUTE_NOT_FOUND({ detail: 'This path takes WebSockets; operations have their name behind it.' });
      try {
        // Browsers open WebSockets to any origin, so the origin is checked here.
        refuseStrangeOrigin(request.headers.origin, origins);
        refuseTokensInUrl(request);
      } catch (error) {
        logError({ services, request: callerOf(request) }, operation, undefined, toApiError(error));
        throw error;
      }
    },
    handler: async () => {},
    wsHandler: (socket, request) => serveWebSocket(socket, request, router, services),
  });
}

function refuseTokensInUrl({ query }: FastifyRequest): void {
  const { connectionParams } = query as Record<string, unknown>;
  if (connectionParams !== undefined && connectionParams !== '1')
    throw MALFORMED_REQUEST({ detail: 'Tokens never stand in a URL: send them in the first message.' });
}
