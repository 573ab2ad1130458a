import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { demoPagePolicy } from './security.ts';

/** Built by `npm run build:demo` and committed, so that the page is there without a build. */
const folder = join(import.meta.dirname, '../../client-sdk/examples/web/dist');

const mediaTypes: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

/**
 * Serves the demo page at /demo/: an example of the client that works on this very service. Each of its few files has
 * a route of its own, so there is nothing else below that path, and other methods are refused as everywhere.
 */
export function registerDemoPage(app: FastifyInstance, { publicUrl }: { publicUrl: string }): void {
  // Relative: behind a proxy the service may have a prefix.
  app.get('/demo', async (_request, reply) => reply.header('Cache-Control', 'no-cache').redirect('demo/', 308));
  const config = { policy: demoPagePolicy(publicUrl) };
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const type = mediaTypes[extname(name)];
    if (type === undefined) continue;
    const content = readFileSync(join(folder, name));
    const etag = `"${createHash('sha256').update(content).digest('base64url').slice(0, 27)}"`;
    // The names of assets carry a hash of what is in them.
    const isForEver = name.startsWith('assets');
    const headers = {
      ETag: etag,
      'Cache-Control': isForEver ? 'public, max-age=31536000, immutable' : 'no-cache',
    };
    app.get(`/demo/${name === 'index.html' ? '' : name.replaceAll('\\', '/')}`, { config }, async (request, reply) => {
      void reply.headers(headers);
      if (request.headers['if-none-match'] === etag) return reply.status(304).send();
      return reply.type(type).send(content);
    });
  }
}
