import { Readable } from 'node:stream';
import Fastify, { LogController, type FastifyBaseLogger, type FastifyError, type FastifyInstance } from 'fastify';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { FaultError } from '../kernel/fault.ts';
import { MALFORMED_REQUEST, METHOD_NOT_ALLOWED, NOT_FOUND } from '../kernel/faults.ts';
import { refuseWhileClosing } from './closing.ts';
import { wantsWebSocket } from './events/upgrade.ts';
import { collectMethods } from './methods.ts';
import { fromFastify, sendProblem } from './problem.ts';
import { answerGarbage } from './raw-refusal.ts';
import { requestIdOf } from './request-info.ts';
import { bodyBytesMax } from './rest.ts';
import { registerSecurity } from './security.ts';
import { isTrpc, sendTrpcError } from './trpc-answers.ts';

export type ShellOptions = {
  logger: FastifyBaseLogger;
  /** The addresses or networks of the proxies in front; only their X-Forwarded-For is believed. */
  trustProxy: string[] | false;
  /** The origins of browsers that may call. */
  corsOrigins: string[];
};

export type Shell = {
  server: FastifyInstance;
  isClosing(): boolean;
  /** For when all routes stand: their other methods are refused with 405, and OPTIONS is answered. */
  refuseOtherMethods(): void;
};

/** The HTTP server without any route: request ids, JSON, and a refusal in the caller's terms for whatever goes wrong. */
export async function createShell({ logger, trustProxy, corsOrigins }: ShellOptions): Promise<Shell> {
  const app: FastifyInstance = Fastify({
    loggerInstance: logger,
    trustProxy,
    bodyLimit: bodyBytesMax,
    genReqId: (request) => requestIdOf(request.headers),
    // One line for each answer is written below, with the route and never with the URL.
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    forceCloseConnections: 'idle',
    // Its own answer is no problem document; see closing.ts.
    return503OnClosing: false,
    onProtoPoisoning: 'remove',
    onConstructorPoisoning: 'ignore',
    requestTimeout: 60_000,
    http: {
      // Node's own answer to a request without Host has no body.
      requireHostHeader: false,
      shouldUpgradeCallback: wantsWebSocket,
      // No stream is set up for a body that is not there.
      optimizeEmptyRequests: true,
    },
    // The calls of a tRPC batch are one parameter.
    routerOptions: { maxParamLength: 5_000 },
    frameworkErrors: (error, request, reply) => {
      void reply.header('X-Request-Id', request.id);
      void refuse(request, reply, fromFastify(error));
    },
    clientErrorHandler: answerGarbage,
  });
  acceptEmptyJson(app);
  // Whoever names a media type has a body parsed: where there is none, an empty one is, for the request itself never ends.
  app.addHook('preParsing', ({ raw, headers }, _reply, body, done) => {
    done(null, raw.readableEnded && headers['content-type'] !== undefined ? Readable.from([]) : body);
  });

  const methods = collectMethods(app);
  app.setErrorHandler((error: FastifyError, request, reply) => refuse(request, reply, fromFastify(error)));
  app.setNotFoundHandler((request, reply) => refuse(request, reply, NOT_FOUND()));
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('X-Request-Id', request.id);
    // A body in chunks may turn out to be no HTTP: what has come of it is read before anything is answered.
    if (request.headers['transfer-encoding'] === undefined) done();
    else setImmediate(done);
  });
  // Before anything is refused: a browser must be let to read refusals.
  await registerSecurity(app, { corsOrigins });
  const { isClosing } = refuseWhileClosing(app);
  app.addHook('onRequest', (request, reply, done) => {
    if (request.headers.host === undefined && request.raw.httpVersion === '1.1')
      return done(MALFORMED_REQUEST({ detail: 'The Host header is missing.' }));
    // A parameter matches the nothing between two slashes as well.
    const params = request.params as Record<string, string>;
    for (const name in params) if (params[name] === '') return done(NOT_FOUND());
    if (!request.is404) return done();
    // Before the body is read: there is nobody to read it.
    const allow = methods.ofUnroutable(request);
    if (allow === undefined) return done(NOT_FOUND());
    void reply.header('Allow', allow);
    return done(METHOD_NOT_ALLOWED());
  });
  app.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.config.operation ?? request.routeOptions.url ?? 'unknown path';
    request.log.info(
      { method: request.method, route, status: reply.statusCode, ms: Math.round(reply.elapsedTime) },
      'answered',
    );
    done();
  });
  return { server: app, isClosing, refuseOtherMethods: () => methods.refuseOthers() };
}

function refuse(request: FastifyRequest, reply: FastifyReply, error: FaultError): Promise<void> {
  return isTrpc(request.url) ? sendTrpcError(request, reply, error) : sendProblem(request, reply, error);
}

/** A body of no bytes is no body, whatever its media type says. */
function acceptEmptyJson(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('remove', 'ignore');
  app.removeContentTypeParser('application/json');
  app.removeContentTypeParser('text/plain');
  app.addContentTypeParser<string>('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body.trim() === '') done(null, undefined);
    else void parse(request, body, done);
  });
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The operation that the route serves. */
    operation?: string;
    /** Answers even while the service shuts down. */
    servesWhileClosing?: boolean;
  }
}
