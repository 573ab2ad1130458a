import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { createDocument } from '../../server/surfaces/openapi/openapi.ts';
import { appRouter } from '../../server/router.ts';
import { createDocumentCheck, type DocumentCheck } from './document-check.ts';

let check: DocumentCheck | undefined;

/**
 * Holds every answer of every server that this process makes from now on against the document:
 * `onChecked` is told what is wrong with each that the document is about. Answers how to leave further servers alone.
 */
export function watchResponses(onChecked: (problems: string[]) => void): () => void {
  function watch(message: unknown): void {
    const { fastify } = message as { fastify: FastifyInstance };
    const bodies = new WeakMap<FastifyRequest, unknown>();
    fastify.addHook('onSend', (request, _reply, payload, done) => {
      bodies.set(request, payload);
      done(null, payload);
    });
    fastify.addHook('onResponse', (request, reply, done) => {
      const body = bodies.get(request);
      // Made for the first answer: not every test file asks for one.
      check ??= createDocumentCheck(createDocument(appRouter, 'https://api.example.test'));
      const problems = check({
        method: request.method,
        url: request.url,
        operationId: request.routeOptions.config.operation,
        status: reply.statusCode,
        headers: Object.fromEntries(
          Object.entries(reply.getHeaders()).map(([name, value]) => [name, [value].flat().join(', ')]),
        ),
        body: typeof body === 'string' ? body : undefined,
      });
      if (problems) onChecked(problems);
      done();
    });
  }
  subscribe('fastify.initialization', watch);
  return () => void unsubscribe('fastify.initialization', watch);
}
