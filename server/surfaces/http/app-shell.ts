import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import Fastify, { LogController, type FastifyBaseLogger, type FastifyError, type FastifyInstance } from 'fastify';
import type { FastifyHttpOptions, FastifyReply, FastifyRequest } from 'fastify';
import type { ApiError } from '../../errors/api-error.ts';
import {
  EXPECTATION_FAILED,
  MALFORMED_REQUEST,
  METHOD_NOT_ALLOWED,
  ROUTE_NOT_FOUND,
  UNSUPPORTED_MEDIA_TYPE,
} from '../../errors/errors.ts';
import { bodyBytesMax, createBodyReader, expectsContinue, type ReadBody } from './body.ts';
import { refuseWhileClosing } from './closing.ts';
import { compressAnswers } from './compression.ts';
import { capConnections } from './connection-cap.ts';
import { wantsWebSocket } from './upgrade.ts';
import { collectMethods, type Methods } from './methods.ts';
import { fromFastify, sendProblem } from './problem.ts';
import { answerMalformedRequest, answerRaw } from './malformed-request.ts';
import { requestIdOf } from './request-info.ts';
import { fixedHeaders, registerSecurity } from './security-headers.ts';
import { isTrpc, sendTrpcError } from '../trpc/trpc-answers.ts';
import { dropUnreadBodies } from './unread-body.ts';

/** The time for sending a whole request, and for sending its headers. */
const requestMs = 60_000;
const headersMs = 15_000;

export type ShellOptions = {
  logger: FastifyBaseLogger;
  /** The addresses or networks of trusted proxies; only their X-Forwarded-For is used. */
  trustProxy: string[] | false;
  /** The browser origins that may call. */
  corsOrigins: string[];
  /** The most unauthenticated connections of one network; unlimited by default. */
  connectionsPerNetwork?: number;
};

export type Shell = {
  server: FastifyInstance;
  isClosing(): boolean;
  /** The number of connections refused by this limit. */
  countRefusedConnections(): number;
  readBody: ReadBody;
  /** Call it after all routes are registered: their other methods are refused with 405, and OPTIONS is answered. */
  refuseOtherMethods(): void;
};

/** The HTTP server without routes: request ids, JSON, and every failure as an error in the caller's format. */
export async function createShell(options: ShellOptions): Promise<Shell> {
  const { logger, trustProxy, corsOrigins, connectionsPerNetwork } = options;
  const app: FastifyInstance = Fastify({ ...serverOptions, loggerInstance: logger, trustProxy });
  const { countRefused } = capConnections(app.server, { max: connectionsPerNetwork, trustProxy, logger });
  const readBody = createBodyReader();
  app.decorateRequest('info');
  parseJson(app, readBody);
  takeExpectations(app);

  const methods = collectMethods(app);
  app.setErrorHandler((error: FastifyError, request, reply) => refuse(request, reply, fromFastify(error)));
  app.setNotFoundHandler((request, reply) => refuse(request, reply, routeNotFound(request)));
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('X-Request-Id', request.id);
    // A chunked body may turn out to be malformed: the received part is parsed before anything is answered.
    if (request.headers['transfer-encoding'] === undefined) done();
    else setImmediate(done);
  });
  // First, because a browser must be able to read errors.
  await registerSecurity(app, { corsOrigins });
  const { isClosing } = refuseWhileClosing(app);
  dropUnreadBodies(app);
  compressAnswers(app);
  checkRequests(app, methods);
  logAnswers(app);
  const refuseOtherMethods = () => methods.refuseOthers();
  return { server: app, isClosing, countRefusedConnections: countRefused, readBody, refuseOtherMethods };
}

const refuseSchema = (): never => {
  throw new Error('A route has a JSON schema: describe its input and output by Zod instead.');
};

const serverOptions: FastifyHttpOptions<Server> = {
  bodyLimit: bodyBytesMax,
  genReqId: (request) => requestIdOf(request.headers),
  // logAnswers() writes one line for each answer, with the route and never with the URL.
  logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
  forceCloseConnections: 'idle',
  // Fastify's answer is no problem document; see closing.ts.
  return503OnClosing: false,
  onProtoPoisoning: 'remove',
  onConstructorPoisoning: 'ignore',
  requestTimeout: requestMs,
  // It also limits the hooks of a shutdown, which wait for open requests: closing.ts has its own limits.
  pluginTimeout: 0,
  http: {
    headersTimeout: headersMs,
    connectionsCheckingInterval: 5_000,
    // Node's answer to a request without Host has no body.
    requireHostHeader: false,
    shouldUpgradeCallback: wantsWebSocket,
    // Requests without a body get no stream.
    optimizeEmptyRequests: true,
  },
  // Operations check by Zod, so no route has a JSON schema, and Fastify's compilers for them need not be loaded.
  schemaController: { compilersFactory: { buildValidator: refuseSchema, buildSerializer: refuseSchema } },
  // All calls of a tRPC batch are one parameter.
  routerOptions: { maxParamLength: 5_000 },
  frameworkErrors: (error, request, reply) => {
    // No hook has run. The answer contains nothing personal, so pages of any origin may read it.
    void reply.headers({ ...fixedHeaders, 'X-Request-Id': request.id, 'Access-Control-Allow-Origin': '*' });
    void refuse(request, reply, fromFastify(error));
  },
  clientErrorHandler: answerMalformedRequest,
};

/** Checks the head of a request before its body is read. */
function checkRequests(app: FastifyInstance, methods: Methods): void {
  app.addHook('onRequest', (request, reply, done) => {
    if (request.headers.host === undefined && request.raw.httpVersion === '1.1')
      return done(MALFORMED_REQUEST({ detail: 'The Host header is missing.' }));
    // A parameter also matches the empty text between two slashes.
    const params = request.params as Record<string, string>;
    for (const name in params) if (params[name] === '') return done(routeNotFound(request));
    const { expect } = request.headers;
    if (expect !== undefined && expect.toLowerCase() !== '100-continue') return done(EXPECTATION_FAILED());
    // CORS has a route that takes OPTIONS on any path.
    const isForAll = request.routeOptions.url === '*';
    if (!request.is404 && !isForAll) return done();
    const allow = methods.allowOf(request);
    // A page sees the 404 of its request only where the preflight succeeds.
    const isPreflight = isForAll && request.headers['access-control-request-method'] !== undefined;
    if (allow === undefined) return isPreflight ? done() : done(routeNotFound(request));
    void reply.header('Allow', allow);
    if (request.method !== 'OPTIONS') return done(METHOD_NOT_ALLOWED());
    return void reply.status(204).send();
  });
}

function logAnswers(app: FastifyInstance): void {
  app.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.config.operation ?? request.routeOptions.url ?? 'unknown path';
    request.log.info(
      { method: request.method, route, status: reply.statusCode, ms: Math.round(reply.elapsedTime) },
      'answered',
    );
    done();
  });
}

function refuse(request: FastifyRequest, reply: FastifyReply, error: ApiError): Promise<void> {
  return isTrpc(request.url) ? sendTrpcError(request, reply, error) : sendProblem(request, reply, error);
}

function parseJson(app: FastifyInstance, readBody: ReadBody): void {
  const parse = app.getDefaultJsonParser('remove', 'ignore');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', (request, payload, done) => {
    readBody(request, payload, request.routeOptions.bodyLimit, (error, text) => {
      if (error || text === undefined) done(error);
      else void parse(request, text, done);
    });
  });
  // A body in chunks may turn out to be none, and then needs no media type.
  app.addContentTypeParser('*', (request, payload, done) => {
    const { 'content-type': type, 'content-length': length } = request.headers;
    if ((type ?? length) !== undefined) return done(UNSUPPORTED_MEDIA_TYPE());
    return readBody(request, payload, request.routeOptions.bodyLimit, (error, text) => {
      done(error ?? (text === undefined ? null : UNSUPPORTED_MEDIA_TYPE()));
    });
  });
}

/** Node would ask for a body before its head was checked, and refuse other expectations without a body. */
function takeExpectations(app: FastifyInstance): void {
  app.server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    expectsContinue(request, response);
    app.routing(request, response);
  });
  app.server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    app.routing(request, response);
  });
  // CONNECT is for proxies.
  app.server.on('connect', (_request: IncomingMessage, socket: Socket) => {
    answerRaw(MALFORMED_REQUEST(), socket);
  });
}

function routeNotFound({ method, url }: FastifyRequest): ApiError {
  const path = url.split('?', 1)[0]!.slice(0, 200);
  return ROUTE_NOT_FOUND({ detail: `There is no ${method} ${path} here: see the reference at /docs.` });
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The operation that the route serves. */
    operation?: string;
    /** The route also answers while the service shuts down. */
    servesWhileClosing?: boolean;
  }
}
