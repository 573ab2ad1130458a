import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Answered } from './document-check.ts';

/**
 * Tells `onAnswered` of every answer of every server that this process makes from now on. Answers how to leave further servers
 * alone. Processes of the service load this file, so it imports nothing that they would have to load besides.
 */
export function watchResponses(onAnswered: (answered: Answered) => void): () => void {
  function watch(message: unknown): void {
    const { fastify } = message as { fastify: FastifyInstance };
    const bodies = new WeakMap<FastifyRequest, unknown>();
    fastify.addHook('onSend', (request, _reply, payload, done) => {
      bodies.set(request, payload);
      done(null, payload);
    });
    fastify.addHook('onResponse', (request, reply, done) => {
      const body = bodies.get(request);
      onAnswered({
        method: request.method,
        url: request.url,
        operationId: request.routeOptions.config.operation,
        status: reply.statusCode,
        headers: Object.fromEntries(
          Object.entries(reply.getHeaders()).map(([name, value]) => [name, [value].flat().join(', ')]),
        ),
        body: typeof body === 'string' ? body : undefined,
      });
      done();
    });
  }
  subscribe('fastify.initialization', watch);
  return () => void unsubscribe('fastify.initialization', watch);
}
