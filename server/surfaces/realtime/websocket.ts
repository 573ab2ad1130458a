import { setTimeout as delay } from 'node:timers/promises';
import websocket from '@fastify/websocket';
import type { AnyTRPCRouter } from '@trpc/server';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Services } from '../../kernel/context.ts';
import { FORBIDDEN, MALFORMED_REQUEST, ROUTE_NOT_FOUND, toApiError } from '../../errors/errors.ts';
import { logError } from '../../kernel/security-log.ts';
import { bodyBytesMax } from '../http/body.ts';
import { wantsWebSocket } from '../http/upgrade.ts';
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
  const origins = new Set([...options.corsOrigins, ...originsOf(options.publicUrl)]);
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
        refuseStrangeOrigin(request, origins);
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

/** The origins of the service's own pages: loopback has several names. */
function originsOf(publicUrl: string): string[] {
  const { protocol, hostname, port, origin } = new URL(publicUrl);
  const loopback = ['127.0.0.1', 'localhost', '[::1]'];
  return loopback.includes(hostname)
    ? loopback.map((name) => new URL(`${protocol}//${name}:${port}`).origin)
    : [origin];
}

/**
 * Browsers open WebSockets to any origin, so the origin is checked here. It is not compared with `Host`: with DNS rebinding
 * both headers hold the attacker's name.
 */
function refuseStrangeOrigin({ headers: { origin } }: FastifyRequest, origins: Set<string>): void {
  if (origin === undefined || origins.has(origin)) return;
  throw FORBIDDEN({ detail: 'Pages of this origin may not connect.' });
}

function refuseTokensInUrl({ query }: FastifyRequest): void {
  const { connectionParams } = query as Record<string, unknown>;
  if (connectionParams !== undefined && connectionParams !== '1')
    throw MALFORMED_REQUEST({ detail: 'Tokens never stand in a URL: send them in the first message.' });
}
