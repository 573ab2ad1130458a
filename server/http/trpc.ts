import type { AnyTRPCRouter } from '@trpc/server';
import { fastifyTRPCPlugin, type FastifyTRPCPluginOptions } from '@trpc/server/adapters/fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { RequestInfo, Services } from '../kernel/context.ts';
import type { FaultError } from '../kernel/fault.ts';
import { BODY_TOO_LARGE, MALFORMED_REQUEST, toFaultError, UNSUPPORTED_MEDIA_TYPE } from '../kernel/faults.ts';
import { requestIdByError, trpcErrorOf } from '../kernel/trpc.ts';
import { responseWire } from './events/wires.ts';
import { operationsOf } from './operations.ts';
import { logFailure, refusalHeaders } from './problem.ts';
import { requestInfo } from './request-info.ts';
import { bodyBytesMax } from './rest.ts';

/** The most calls that one HTTP request may carry. */
const batchMax = 50;

const allowOf = { query: 'GET', mutation: 'POST', subscription: 'GET', unknown: 'GET, POST' };

/** The same operations for TypeScript clients, at /trpc. */
export async function registerTrpc(app: FastifyInstance, router: AnyTRPCRouter, services: Services): Promise<void> {
  const bodyLimits = new Map(operationsOf(router).map(({ name, meta }) => [name, meta.bodyBytesMax ?? bodyBytesMax]));
  const options: FastifyTRPCPluginOptions<AnyTRPCRouter> = {
    prefix: '/trpc',
    trpcOptions: {
      router,
      maxBatchSize: batchMax,
      createContext({ req, res, info }) {
        const request = requestInfo(req, res);
        return { services, request: info.type === 'subscription' ? lasting(request, res, services) : request };
      },
      onError({ error, path, req }) {
        requestIdByError.set(error, req.id);
        const refusal = toFaultError(error);
        if (refusal.fault.status >= 500)
          req.log.error({ err: refusal.cause ?? refusal, code: refusal.fault.code, operation: path }, 'request failed');
      },
      responseMeta({ errors, type, info }) {
        const refusals = errors.map(toFaultError);
        const waits = refusals.map((refusal) => Number(refusalHeaders(refusal)['Retry-After'] ?? 0));
        const longest = Math.max(0, ...waits);
        const isWrongMethod = refusals.some(({ fault }) => fault.status === 405);
        return {
          headers: {
            ...(longest === 0 ? {} : { 'Retry-After': String(longest) }),
            ...(isWrongMethod ? { Allow: allowOf[type] } : {}),
            // Where it could not read the request, tRPC leaves its JSON without a type.
            ...(info === undefined ? { 'Content-Type': 'application/json' } : {}),
          },
        };
      },
    },
  };
  await app.register(async (door) => {
    // One route serves all operations, so the largest body passes here and each operation's own limit is held below.
    door.addHook('onRoute', (route) => void (route.bodyLimit = Math.max(bodyBytesMax, ...bodyLimits.values())));
    door.addHook('onRequest', async (request, reply) => {
      if (request.method === 'OPTIONS') return reply.status(204).header('Allow', 'GET, OPTIONS, POST').send();
      // Its clients can put what proves who is calling into the URL, where logs and histories keep it.
      if ('connectionParams' in (request.query as object))
        throw MALFORMED_REQUEST({ detail: 'Tokens never stand in a URL: send them as headers.' });
      // tRPC would read a form of any size into memory; no operation takes one.
      if (/^multipart\//i.test(request.headers['content-type'] ?? '')) throw UNSUPPORTED_MEDIA_TYPE();
      return undefined;
    });
    door.addHook('preHandler', async (request) => {
      const limits = calledPaths(request).map((path) => bodyLimits.get(path) ?? bodyBytesMax);
      if (typeof request.body === 'string' && Buffer.byteLength(request.body) > Math.max(...limits))
        throw BODY_TOO_LARGE();
    });
    await door.register(fastifyTRPCPlugin, options);
  });
}

/** The request of a subscription, with the connection that its events are sent on. */
function lasting(request: RequestInfo, { raw }: FastifyReply, { connections }: Services): RequestInfo {
  const connection = connections.open(responseWire(raw, request.network));
  raw.once('close', () => connection.gone());
  return { ...request, connection };
}

/** The procedures that a request to /trpc names; a batch names several. */
export function calledPaths(request: FastifyRequest): string[] {
  const { path = '' } = request.params as { path?: string };
  return path.split(',');
}

export function isTrpc(url: string): boolean {
  return /^\/trpc(?:[/?]|$)/.test(url);
}

/** What is refused before tRPC sees it, in the shape that its clients understand. */
export async function sendTrpcError(request: FastifyRequest, reply: FastifyReply, error: FaultError): Promise<void> {
  logFailure(request, error);
  await reply
    .status(error.fault.status)
    .headers(refusalHeaders(error))
    .type('application/json')
    .send(JSON.stringify({ error: trpcErrorOf(error, request.id) }));
}
