import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ApiError } from '../../errors/api-error.ts';
import { METHOD_NOT_ALLOWED } from '../../errors/errors.ts';
import { sendProblem } from './problem.ts';

export type Methods = {
  /**
   * Answers what no route takes at a served path: OPTIONS with the list of its methods, other methods with 405. False at a path
   * that is not served.
   */
  answer(request: FastifyRequest, reply: FastifyReply, done: (error?: ApiError) => void): boolean;
  /** Call it after all routes are registered. */
  refuseOthers(): void;
};

/** A path with parameters, of any names, and the methods that are served there. */
type Shape = { url: string; methods: Set<string>; allow: string; pattern: RegExp; routed: RegExp };

/**
 * Collects the methods of each path, so that others get 405 and OPTIONS is answered with the list. Routes that refuse were most of
 * the router, and a quarter of the time of a start: there is one only where another path would take the request instead.
 */
export function collectMethods(app: FastifyInstance): Methods {
  const served: { url: string; methods: string[] }[] = [];
  let isCollecting = true;
  const exact = new Map<string, Shape>();
  let others: Shape[] = [];
  app.addHook('onRoute', ({ url, method }) => {
    // A route for all paths says nothing about one path.
    if (isCollecting && url !== '*') served.push({ url, methods: [method].flat() });
  });

  function refuseOthers(): void {
    isCollecting = false;
    const byShape = Map.groupBy(served, ({ url }) => url.replaceAll(/:\w+/g, ':'));
    const shapes = [...byShape].map(([shape, routes]) => toShape(shape, routes));
    others = shapes.filter(({ url }) => /[:*]/.test(url)).toSorted((one, other) => generality(one) - generality(other));
    for (const shape of shapes) {
      const { url, methods, allow } = shape;
      if (!others.includes(shape)) exact.set(url, shape);
      const wider = others.filter((other) => other !== shape && other.routed.test(url));
      const taken = app.supportedMethods.filter(
        (method) => !methods.has(method) && wider.some((other) => other.methods.has(method)),
      );
      refuseMethods(app, url, taken, allow);
    }
  }

  return {
    refuseOthers,
    answer({ method, url }, reply, done) {
      const path = decoded(url.split('?', 1)[0]!);
      const shape = exact.get(path) ?? others.find(({ pattern }) => pattern.test(path));
      if (!shape) return false;
      void reply.header('Allow', shape.allow);
      if (method === 'OPTIONS') reply.status(204).send();
      else done(METHOD_NOT_ALLOWED());
      return true;
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
const generality = ({ url }: Shape): number => (url.includes('*') ? 100 : url.split(':').length);

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
