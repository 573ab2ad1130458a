import { setTimeout as delay } from 'node:timers/promises';
import websocket from '@fastify/websocket';
import type { AnyTRPCRouter } from '@trpc/server';
import { getWSConnectionHandler, type WSSHandlerOptions } from '@trpc/server/adapters/ws';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { WebSocket } from 'ws';
import { authenticate } from '../../kernel/authentication.ts';
import { subscriptionsMax, type Connection } from '../../kernel/connections.ts';
import type { Context, RequestInfo, Services } from '../../kernel/context.ts';
import { FaultError } from '../../kernel/fault.ts';
import { FORBIDDEN, MALFORMED_REQUEST, ROUTE_NOT_FOUND, toFaultError } from '../../kernel/faults.ts';
import { logRefusal } from '../../kernel/security-log.ts';
import { requestIdByError } from '../../kernel/trpc.ts';
import { requestInfo } from '../request-info.ts';
import { bodyBytesMax } from '../body.ts';
import { proofOf } from './connection-proof.ts';
import { createEncoder, sendPieces } from './encoder.ts';
import { wantsWebSocket } from './upgrade.ts';
import { socketWire } from './wires.ts';

type SocketOptions = { corsOrigins: string[]; publicUrl: string };

/** A caller that says nothing for this long is asked whether they are still there. */
const pingMs = 25_000;
const pongWaitMs = 10_000;
/** A client that comes back says all that it listens to in one message, perhaps with calls that waited. */
const batchMax = 2 * subscriptionsMax;
/** No client says what is no call; whoever does it for long is no client, and no limit counts such messages. */
const nonsenseMax = 100;
/** What the opening of a WebSocket is called in the security log. */
const operation = 'websocket';
/** How long sockets have to close when the service ends. */
const goodbyeMs = 1_200;

/** The operations and subscriptions over a WebSocket, at /trpc itself. */
export async function registerWebSocket(
  app: FastifyInstance,
  router: AnyTRPCRouter,
  services: Services,
  options: SocketOptions,
): Promise<void> {
  await app.register((door) => openDoor(door, router, services, options));
}

async function openDoor(
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
    // A message that is too large, or no WebSocket's: `ws` has closed the socket with the code that says so.
    errorHandler: (error, socket, request) => {
      request.log.info({ err: error }, 'a WebSocket broke');
      setTimeout(() => socket.terminate(), goodbyeMs).unref();
    },
  });
  app.addHook('preClose', async () => {
    connections.closeAll();
    for (let waited = 0; connections.count() > 0 && waited < goodbyeMs; waited += 20) await delay(20);
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
        logRefusal({ services, request: asCaller(request) }, operation, undefined, toFaultError(error));
        throw error;
      }
    },
    handler: async () => {},
    wsHandler: (socket, request) => serve(socket, request, router, services),
  });
}

/** The origin of the service's own pages. On this machine alone it has several names, and a page may be opened by each. */
function originsOf(publicUrl: string): string[] {
  const { protocol, hostname, port, origin } = new URL(publicUrl);
  const loopback = ['127.0.0.1', 'localhost', '[::1]'];
  return loopback.includes(hostname)
    ? loopback.map((name) => new URL(`${protocol}//${name}:${port}`).origin)
    : [origin];
}

/**
 * A page of any origin opens a WebSocket without asking, so it is asked here. `Host` decides nothing: a name that an
 * attacker makes lead to this service is in both headers.
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

const asCaller = (request: FastifyRequest): RequestInfo => requestInfo(request, { header: () => {} });

function serve(socket: WebSocket, request: FastifyRequest, router: AnyTRPCRouter, services: Services): void {
  const info = asCaller(request);
  let connection: Connection;
  try {
    connection = services.connections.open(socketWire(socket, request.raw.socket, info.network));
  } catch (error) {
    const refusal = toFaultError(error);
    logRefusal({ services, request: info }, operation, undefined, refusal);
    socket.close(4429, refusal.fault.code);
    return;
  }
  socket.once('close', () => connection.gone());

  async function createContext(params: Record<string, string | undefined> | null): Promise<Context> {
    const ctx: Context = {
      services,
      // Only what was said on this connection proves anything: a page cannot set headers, but it sends what it is told.
      request: { ...info, idempotencyKey: undefined, ...proofOf(params), connection },
    };
    // A bad proof is refused call by call, where clients hear of it; without a good one the connection does not last.
    const caller = await authenticate(ctx).catch(() => undefined);
    if (caller) connection.claim(caller.credential);
    return ctx;
  }

  sendPieces(socket, request.raw.socket);
  let nonsense = 0;
  const handle = getWSConnectionHandler<AnyTRPCRouter>({
    router,
    maxBatchSize: batchMax,
    experimental_encoder: createEncoder({
      itemsMax: 5 * batchMax,
      onNonsense() {
        nonsense += 1;
        if (nonsense === nonsenseMax) socket.close(4400, 'too many messages that are no calls');
      },
    }),
    keepAlive: { enabled: true, pingMs, pongWaitMs },
    createContext: ({ info: { connectionParams } }) => createContext(connectionParams),
    onError({ error, path }) {
      requestIdByError.set(error, request.id);
      const refusal = toFaultError(error);
      connection.refuse(refusal);
      if (refusal.fault.status >= 500 && !(error.cause instanceof FaultError))
        request.log.error({ err: refusal.cause ?? refusal, operation: path }, 'a call over a WebSocket failed');
    },
  } satisfies Partial<WSSHandlerOptions<AnyTRPCRouter>> as unknown as WSSHandlerOptions<AnyTRPCRouter>);
  handle(socket, request.raw);
}
