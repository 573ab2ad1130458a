import type { FastifyInstance, FastifyRequest } from 'fastify';
import { METHOD_NOT_ALLOWED } from '../../errors/errors.ts';
import { sendProblem } from './problem.ts';

export type Methods = {
  /** The `Allow` of a served path, for a request whose method no route has (such as PROPFIND). */
  ofUnroutable(request: FastifyRequest): string | undefined;
  /** Call it after all routes are registered. */
  refuseOthers(): void;
};

/** Collects the methods of each path, so that others get 405 and OPTIONS is answered with the list. */
export function collectMethods(app: FastifyInstance): Methods {
  const served: { url: string; methods: string[] }[] = [];
  let allowed: { pattern: RegExp; allow: string }[] = [];
  let isCollecting = true;
  app.addHook('onRoute', ({ url, method }) => {
    const methods = [method].flat();
    // A route for all paths says nothing about one path.
    if (isCollecting && url !== '*') served.push({ url, methods });
  });

  function refuseOthers(): void {
    isCollecting = false;
    // Paths whose parameters only differ in name are one path to a caller.
    const byShape = Map.groupBy(served, ({ url }) => url.replaceAll(/:\w+/g, ':'));
    allowed = [...byShape].map(([shape, routes]) => {
      const methods = new Set(routes.flatMap((route) => route.methods)).add('OPTIONS');
      const allow = [...methods].toSorted().join(', ');
      refuseMethods(
        app,
        routes[0]!.url,
        app.supportedMethods.filter((method) => !methods.has(method)),
        allow,
      );
      if (!routes.some((route) => route.methods.includes('OPTIONS'))) answerOptions(app, routes[0]!.url, allow);
      const pattern = shape.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`).replaceAll(':', '[^/]+');
      return { pattern: new RegExp(`^${pattern.replaceAll('*', '.*')}$`), allow };
    });
  }

  return {
    refuseOthers,
    ofUnroutable({ method, url }) {
      if (app.supportedMethods.includes(method)) return undefined;
      const path = url.split('?', 1)[0]!;
      return allowed.find(({ pattern }) => pattern.test(path))?.allow;
    },
  };
}

function refuseMethods(app: FastifyInstance, url: string, methods: string[], allow: string): void {
  if (methods.length === 0) return;
  app.route({
    method: methods,
    url,
    exposeHeadRoute: false,
    // Before the body is read: a wrong method is wrong with any body.
    onRequest: async (request, reply) => {
      void reply.header('Allow', allow);
      await sendProblem(request, reply, METHOD_NOT_ALLOWED());
    },
    handler: async () => {},
  });
}

function answerOptions(app: FastifyInstance, url: string, allow: string): void {
  app.route({
    method: 'OPTIONS',
    url,
    // Before the body is read, because the list does not depend on it.
    onRequest: async (_request, reply) => reply.status(204).header('Allow', allow).send(),
    handler: async () => {},
  });
}
