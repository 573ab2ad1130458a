import type { FastifyInstance } from 'fastify';
import type { Services } from '../../kernel/context.ts';
import type { ReadBody } from '../http/body.ts';
import { staticDocument } from '../http/static-document.ts';
import { registerConsentPage } from './consent-page.ts';
import { registerEndpoints } from './endpoints.ts';
import { metadataPaths, resourceMetadata, serverMetadata } from './metadata.ts';

/*
 * OAuth 2.1 for clients of /mcp that have no API key: docs/oauth.md. What is granted is decided in features/oauth/; here are the pages
 * and endpoints that the RFCs define, which are no operations, because they take forms and answer errors of their own.
 */

/** Pages of any origin may read what holds no cookie and belongs to nobody. */
const headers = 'Authorization, Content-Type, MCP-Protocol-Version';

export async function registerOAuth(
  app: FastifyInstance,
  services: Services,
  { readBody }: { readBody: ReadBody },
): Promise<void> {
  registerConsentPage(app, services);
  await app.register(async (shared) => {
    const urls: string[] = [];
    shared.addHook('onRoute', ({ url, method }) => {
      if ([method].flat().some((one) => one !== 'OPTIONS' && one !== 'HEAD')) urls.push(url);
    });
    shared.addHook('onRequest', async (_request, reply) => {
      void reply.headers({ 'access-control-allow-origin': '*', 'access-control-expose-headers': 'Retry-After' });
    });
    registerMetadata(shared, services);
    await registerEndpoints(shared, services, { readBody });
    for (const url of urls)
      shared.route({
        method: 'OPTIONS',
        url,
        handler: async (_request, reply) => {
          const methods = url.startsWith('/.well-known/') ? 'GET, HEAD, OPTIONS' : 'OPTIONS, POST';
          void reply.headers({ allow: methods, 'access-control-allow-methods': methods });
          return reply
            .headers({ 'access-control-allow-headers': headers, 'access-control-max-age': '600' })
            .code(204)
            .send();
        },
      });
  });
}

function registerMetadata(app: FastifyInstance, { settings }: Services): void {
  const serve = (urls: string[], make: () => object) => {
    const type = 'application/json; charset=utf-8';
    const read = () => Buffer.from(JSON.stringify(make()));
    for (const url of urls) app.get(url, staticDocument({ type, read, cacheControl: 'public, max-age=300' }));
  };
  const { resource, server } = metadataPaths(settings);
  serve(resource, () => resourceMetadata(settings));
  serve(server, () => serverMetadata(settings));
}
