import { definitionOf, proceduresOf, type ProcedureDefinition } from '../../kernel/definitions.ts';
import type { AnyTRPCRouter } from '@trpc/server';
import { fastifyRequestHandler, type FastifyHandlerOptions } from '@trpc/server/adapters/fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { RequestInfo, Services } from '../../kernel/context.ts';
import { MALFORMED_REQUEST, METHOD_NOT_ALLOWED, toApiError, UNSUPPORTED_MEDIA_TYPE } from '../../errors/errors.ts';
import { requestIdByError } from '../../kernel/trpc.ts';
import { bodyBytesMax, type ReadBody } from '../http/body.ts';
import { serverSentEventsTransport } from '../realtime/transports.ts';
import { operationsOf } from '../../kernel/operations.ts';
import { authenticateCaller, requestInfo } from '../http/request-info.ts';
import { calledPaths, headersOf, logTrpcFailure } from './trpc-answers.ts';
import { answerCalls, readerOfCalls, type ReadCalls } from './trpc-calls.ts';

/** The most calls that one HTTP request may carry. */
const batchMax = 50;

const allowed = ['GET', 'HEAD', 'OPTIONS', 'POST'];
const allowOf = { query: 'GET', mutation: 'POST', subscription: 'GET', unknown: 'GET, POST' };

type HandlerOptions = FastifyHandlerOptions<AnyTRPCRouter, FastifyRequest, FastifyReply>;

/**
 * The same operations for TypeScript clients, at /trpc. The fast path answers the requests that `readCalls` can read;
 * tRPC's own handler answers all others (streams, events, malformed requests).
 */
export async function registerTrpc(
  app: FastifyInstance,
  router: AnyTRPCRouter,
  services: Services,
  { readBody, readCalls = readerOfCalls(router, batchMax) }: { readBody: ReadBody; readCalls?: ReadCalls },
): Promise<void> {
  const bodyLimits = new Map(operationsOf(router).map(({ name, meta }) => [name, meta.bodyBytesMax ?? bodyBytesMax]));
  const limitOf = (path: string): number => bodyLimits.get(path) ?? bodyBytesMax;
  const options = handlerOptions(router, services);
  // Queries are left out: their input is in the URL, and a batch may hold open operations.
  const needCaller = new Set(
    [...proceduresOf(router)].flatMap(([name, one]) => (needsCallerFirst(definitionOf(one)) ? name : [])),
  );

  await app.register(async (api) => {
    // Bodies stay text: the handler is chosen when they have arrived.
    api.removeContentTypeParser('application/json');
    api.addContentTypeParser('application/json', (request, payload, done) =>
      readBody(request, payload, Math.max(...calledPaths(request).map(limitOf)), done),
    );
    api.addHook('onRequest', (request, reply, done) => {
      if (request.method === 'OPTIONS') {
        reply.status(204).header('Allow', allowed.join(', ')).send();
        return undefined;
      }
      // Before anything else of the request is judged: a wrong method is wrong with any body.
      if (!allowed.includes(request.method)) {
        reply.header('Allow', allowed.join(', '));
        return done(METHOD_NOT_ALLOWED());
      }
      // tRPC's clients can put credentials into the URL, where logs and histories store them.
      if ('connectionParams' in (request.query as object))
        return done(MALFORMED_REQUEST({ detail: 'Tokens never stand in a URL: send them as headers.' }));
      // tRPC would read a form of any size into memory; no operation accepts forms.
      if (/^multipart\//i.test(request.headers['content-type'] ?? '')) return done(UNSUPPORTED_MEDIA_TYPE());
      if (calledPaths(request).every((path) => needCaller.has(path)))
        void authenticateCaller(request, reply, services, done);
      else done();
      return undefined;
    });
    api.route({
      method: api.supportedMethods,
      url: '/trpc/:path',
      handler: (request, reply) => {
        // The caller left during authentication: no later event of this connection would end a subscription.
        if (reply.raw.destroyed) return void reply.hijack();
        const calls = readCalls(request);
        const { path } = request.params as { path: string };
        void (
          calls
            ? answerCalls(calls, { request, reply, services })
            : fastifyRequestHandler({ ...options, req: request, res: reply, path })
        ).catch((error: unknown) => reply.send(error));
        return undefined;
      },
    });
  });
}

/**
 * Authenticates before the body of a mutation is read, and before a stream begins, which could only be refused inside.
 */
const needsCallerFirst = ({ type, meta }: ProcedureDefinition): boolean => type !== 'query' && meta?.access !== 'open';

function handlerOptions(router: AnyTRPCRouter, services: Services): HandlerOptions {
  return {
    router,
    maxBatchSize: batchMax,
    createContext({ req, res, info }) {
      const request = requestInfo(req, res);
      return { services, request: info.type === 'subscription' ? lasting(request, res, services) : request };
    },
    onError({ error, path, req }) {
      requestIdByError.set(error, req.id);
      logTrpcFailure(req, error, path);
    },
    responseMeta({ errors, type, info }) {
      const apiErrors = errors.map(toApiError);
      const isWrongMethod = apiErrors.some(({ definition }) => definition.status === 405);
      return {
        headers: {
          ...headersOf(apiErrors),
          ...(isWrongMethod ? { Allow: allowOf[type] } : {}),
          // tRPC sends JSON without a type if it could not read the request.
          ...(info === undefined ? { 'Content-Type': 'application/json' } : {}),
        },
      };
    },
  };
}

/** The request of a subscription, with the connection that its events are sent on. */
function lasting(request: RequestInfo, { raw }: FastifyReply, { connections }: Services): RequestInfo {
  const connection = connections.open(serverSentEventsTransport(raw, request.network));
  raw.once('close', () => connection.closed());
  return { ...request, connection };
}
