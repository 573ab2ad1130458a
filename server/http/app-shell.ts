import Fastify, { LogController, type FastifyBaseLogger, type FastifyError, type FastifyInstance } from 'fastify';
import { MALFORMED_REQUEST, NOT_FOUND } from '../kernel/faults.ts';
import { fromFastify, problemOf, sendProblem } from './problem.ts';
import { requestIdOf } from './request-info.ts';
import { bodyBytesMax } from './rest.ts';

export type ShellOptions = {
  logger: FastifyBaseLogger;
  /** The addresses or networks of the proxies in front; only their X-Forwarded-For is believed. */
  trustProxy: string[] | false;
};

/** The HTTP server without any route: request ids, JSON, and problem documents for whatever goes wrong. */
export function createShell({ logger, trustProxy }: ShellOptions): FastifyInstance {
  const app: FastifyInstance = Fastify({
    loggerInstance: logger,
    trustProxy,
    bodyLimit: bodyBytesMax,
    genReqId: (request) => requestIdOf(request.headers),
    // One line for each answer is written below, with the route and never with the URL.
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    forceCloseConnections: 'idle',
    onProtoPoisoning: 'remove',
    onConstructorPoisoning: 'ignore',
    requestTimeout: 60_000,
    frameworkErrors: (error, request, reply) => void sendProblem(request, reply, fromFastify(error)),
    clientErrorHandler(error, socket) {
      const isTooLarge = (error as NodeJS.ErrnoException).code === 'HPE_HEADER_OVERFLOW';
      const body = JSON.stringify(
        problemOf(MALFORMED_REQUEST(isTooLarge ? { detail: 'The headers are too large.' } : {}), crypto.randomUUID()),
      );
      if (!socket.writable) return;
      socket.end(
        `HTTP/1.1 400 Bad Request\r\nContent-Type: application/problem+json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
      );
    },
  });

  acceptEmptyJson(app);
  app.setErrorHandler((error: FastifyError, request, reply) => sendProblem(request, reply, fromFastify(error)));
  app.setNotFoundHandler((request, reply) => sendProblem(request, reply, NOT_FOUND()));
  app.addHook('onRequest', async (request, reply) => void reply.header('X-Request-Id', request.id));
  app.addHook('onResponse', async (request, reply) => {
    const route = request.routeOptions.config.operation ?? request.routeOptions.url ?? 'unknown path';
    request.log.info(
      { method: request.method, route, status: reply.statusCode, ms: Math.round(reply.elapsedTime) },
      'answered',
    );
  });
  return app;
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
  }
}
