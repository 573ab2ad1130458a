import type { FastifyInstance, FastifyRequest } from 'fastify';
import { METHOD_NOT_ALLOWED } from '../../errors/errors.ts';
import { sendProblem } from './problem.ts';

export type Methods = {
  /** The `Allow` of a served path, for a request that no route takes; undefined at a path that is not served. */
  allowOf(request: FastifyRequest): string | undefined;
  /** Call it after all routes are registered. */
  refuseOthers(): void;
};

/** A path with parameters, of any names, and the methods that are served there. */
type Shape = { url: string; methods: Set<string>; allow: string; pattern: RegExp; routed: RegExp };

/**
 * Collects the methods of each path, so that others get 405 and OPTIONS is answered with the list. A route refuses a method only
 * where a more general path would take the request: one for each method of each path was a fifth of the work of a start.
 */
export function collectMethods(app: FastifyInstance): Methods {
  const served: { url: string; methods: string[] }[] = [];
  let isCollecting = true;
  let shapes: Shape[] = [];
  app.addHook('onRoute', ({ url, method }) => {
    // A route for all paths says nothing about one path.
    if (isCollecting && url !== '*') served.push({ url, methods: [method].flat() });
  });

  function refuseOthers(): void {
    isCollecting = false;
    const byShape = Map.groupBy(served, ({ url }) => url.replaceAll(/:\w+/g, ':'));
    shapes = [...byShape]
      .map(([shape, routes]) => toShape(shape, routes))
      .toSorted((one, other) => generality(one) - generality(other));
    const general = shapes.filter((shape) => generality(shape) > 0);
    for (const shape of shapes) {
      const wider = general.filter((other) => other !== shape && other.routed.test(shape.url));
      const taken = app.supportedMethods.filter(
        (method) => !shape.methods.has(method) && wider.some((other) => other.methods.has(method)),
      );
      refuseMethods(app, shape.url, taken, shape.allow);
    }
  }

  return {
    refuseOthers,
    allowOf({ url }) {
      const path = decoded(url.split('?', 1)[0]!);
      return shapes.find(({ pattern }) => pattern.test(path))?.allow;
    },
  };
}

function toShape(shape: string, routes: { url: string; methods: string[] }[]): Shape {
  const methods = new Set(routes.flatMap((route) => route.methods)).add('OPTIONS');
  const literal = shape.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`).replaceAll('*', '.*');
  const matching = (parameter: string) => new RegExp(`^${literal.replaceAll(':', parameter)}$`);
  return {
    url: routes[0]!.url,
    methods,
    allow: [...methods].toSorted().join(', '),
    pattern: matching('[^/]+'),
    // To the router a parameter may be empty.
    routed: matching('[^/]*'),
  };
}

/** The router prefers paths with fewer parameters, and any to a wildcard. */
const generality = ({ url }: Shape): number => (url.includes('*') ? 100 : url.split(':').length - 1);

/** As the router reads it: what is percent-encoded for no reason is the same path. */
function decoded(path: string): string {
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
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
