import type { AnyTRPCRouter } from '@trpc/server';
import { getWSConnectionHandler, type WSSHandlerOptions } from '@trpc/server/adapters/ws';
import type { FastifyRequest } from 'fastify';
import type { WebSocket } from 'ws';
import { ApiError } from '../../errors/api-error.ts';
import { toApiError } from '../../errors/errors.ts';
import { authenticate } from '../../kernel/authentication.ts';
import type { Context, RequestInfo, Services } from '../../kernel/context.ts';
import { logError } from '../../kernel/security-log.ts';
import { subscriptionsMax, type Connection } from '../../platform/connection.ts';
import { requestInfo } from '../http/request-info.ts';
import { credentialsOf } from './connection-credentials.ts';
import { createEncoder, sendPieces } from './encoder.ts';
import { webSocketTransport } from './transports.ts';

/** The name of opening a WebSocket in the security log. */
export const operation = 'websocket';

/** A connection without messages is pinged at this interval. */
const pingMs = 25_000;
const pongWaitMs = 10_000;
/** A client that reconnects sends all its subscriptions in one message, perhaps with calls that waited. */
const batchMax = 2 * subscriptionsMax;
/** No rate limit counts messages that are no calls, so a connection that sends many of them is closed. */
const invalidMessagesMax = 100;

export const callerOf = (request: FastifyRequest): RequestInfo => requestInfo(request, { header: () => {} });

/** Runs the calls and subscriptions of one WebSocket. */
export function serveWebSocket(
  socket: WebSocket,
  request: FastifyRequest,
  router: AnyTRPCRouter,
  services: Services,
): void {
  const info = callerOf(request);
  let connection: Connection;
  try {
    connection = services.connections.open(webSocketTransport(socket, request.raw.socket, info.network));
  } catch (error) {
    const apiError = toApiError(error);
    logError({ services, request: info }, operation, undefined, apiError);
    socket.close(4429, apiError.definition.code);
    return;
  }
  socket.once('close', () => connection.closed());
  sendPieces(socket, request.raw.socket);

  const handle = getWSConnectionHandler<AnyTRPCRouter>({
    router,
    maxBatchSize: batchMax,
    experimental_encoder: createEncoder({
      requestId: request.id,
      itemsMax: 5 * batchMax,
      onInvalidMessage: afterCalls(invalidMessagesMax, () => socket.close(4400, 'too many messages that are no calls')),
    }),
    keepAlive: { enabled: true, pingMs, pongWaitMs },
    createContext: ({ info: { connectionParams } }) => createContext({ services, info, connection }, connectionParams),
    onError({ error, path }) {
      // The caller broke the protocol: websocket.ts logs it.
      if (String((error.cause as { code?: unknown } | undefined)?.code).startsWith('WS_ERR_')) return;
      const apiError = toApiError(error);
      connection.noteError(apiError);
      if (apiError.definition.status >= 500 && !(error.cause instanceof ApiError))
        request.log.error({ err: apiError.cause ?? apiError, operation: path }, 'a call over a WebSocket failed');
    },
  } satisfies Partial<WSSHandlerOptions<AnyTRPCRouter>> as unknown as WSSHandlerOptions<AnyTRPCRouter>);
  handle(socket, request.raw);
}

/**
 * Only credentials sent on the connection itself count: a page of any origin can open a WebSocket with the browser's
 * headers. A call with wrong credentials is refused by itself, so its client receives the error.
 */
async function createContext(
  { services, info, connection }: { services: Services; info: RequestInfo; connection: Connection },
  params: Record<string, string | undefined> | null,
): Promise<Context> {
  const request = { ...info, idempotencyKey: undefined, ...credentialsOf(params), connection };
  const ctx: Context = { services, request };
  const caller = await authenticate(ctx).catch(() => undefined);
  if (caller) connection.authenticate(caller.credential);
  return ctx;
}

function afterCalls(count: number, action: () => void): () => void {
  let calls = 0;
  return () => {
    calls += 1;
    if (calls === count) action();
  };
}
