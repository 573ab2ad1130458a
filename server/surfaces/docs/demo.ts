import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { demoPagePolicy } from '../http/security-headers.ts';
import { pageFolder } from './demo-page.ts';
import { mediaTypeOf, staticDocument } from '../http/static-document.ts';

/**
 * Serves the demo page at /demo/, an example of the client that uses this service. Each file has a route, so other
 * paths below /demo/ are unknown routes and other methods are refused as everywhere.
 */
export function registerDemoPage(app: FastifyInstance, { publicUrl }: { publicUrl: string }): void {
  // Relative: behind a proxy the service may have a prefix.
  app.get('/demo', async (_request, reply) => reply.header('Cache-Control', 'no-cache').redirect('demo/', 308));
  const config = { policy: demoPagePolicy(publicUrl) };
  for (const name of readdirSync(pageFolder, { recursive: true, encoding: 'utf8' })) {
    const type = mediaTypeOf(name);
    if (type === undefined) continue;
    const send = staticDocument({
      type,
      read: () => readFileSync(join(pageFolder, name)),
      // The names of assets contain a hash of their content.
      ...(name.startsWith('assets') ? { cacheControl: 'public, max-age=31536000, immutable' } : {}),
    });
    app.get(`/demo/${name === 'index.html' ? '' : name.replaceAll('\\', '/')}`, { config }, send);
  }
}
