import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { AnyTRPCRouter } from '@trpc/server';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { NOT_FOUND } from '../kernel/faults.ts';
import { errorListPage, errorPage, page } from './docs-pages.ts';
import { createAsyncDocument } from './asyncapi.ts';
import { createDocument } from './openapi.ts';
import { operationsOf } from './operations.ts';
import { sendProblem } from './problem.ts';
import { pagePolicy } from './security.ts';

const own = join(import.meta.dirname, 'docs');
const swaggerUi = join(dirname(createRequire(import.meta.url).resolve('@fastify/swagger-ui')), 'static');
const assets = new Set(
  'reference.js reference.css page.css tokens.css figtree.woff2 mark.svg swagger-ui.css swagger-ui-bundle.js'.split(
    ' ',
  ),
);

/** /openapi.json, /asyncapi.json and the pages that explain them. All of it is served from here: the pages need no network. */
export async function registerDocs(app: FastifyInstance, router: AnyTRPCRouter, publicUrl: string): Promise<void> {
  serveDocument(app, '/openapi.json', () => createDocument(router, publicUrl));
  serveDocument(app, '/asyncapi.json', () => createAsyncDocument(router, publicUrl));

  await app.register(fastifyStatic, {
    root: [own, swaggerUi],
    prefix: '/docs/assets/',
    allowedPath: (path) => assets.has(path.replace(/^\//, '')),
    decorateReply: false,
    index: false,
    cacheControl: false,
    setHeaders: (reply) => void reply.header('Cache-Control', 'no-cache'),
  });

  // Relative: behind a proxy the service may have a prefix.
  app.get('/', async (_request, reply) => reply.header('Cache-Control', 'no-cache').redirect('docs', 302));
  const operations = operationsOf(router);
  for (const [url, root] of [
    ['/docs', ''],
    ['/docs/', '../'],
  ] as const)
    app.get(url, { config: { policy: pagePolicy } }, async (_request, reply) => html(reply, referencePage(root)));
  for (const [url, root] of [
    ['/docs/errors', '../'],
    ['/docs/errors/', '../../'],
  ] as const)
    app.get(url, { config: { policy: pagePolicy } }, async (_request, reply) => html(reply, errorListPage(root)));
  for (const [url, root] of [
    ['/docs/errors/:code', '../../'],
    ['/docs/errors/:code/', '../../../'],
  ] as const) {
    app.get<{ Params: { code: string } }>(url, { config: { policy: pagePolicy } }, async (request, reply) => {
      const text = errorPage(request.params.code, operations, root);
      return text === undefined ? sendProblem(request, reply, NOT_FOUND()) : html(reply, text);
    });
  }
}

/** Made when it is first asked for: making it takes a good part of a start, and what that leaves behind stays in memory. */
function serveDocument(app: FastifyInstance, url: string, make: () => object): void {
  let made: { document: string; etag: string } | undefined;
  const getDocument = () => {
    const document = JSON.stringify(make());
    return { document, etag: `"${createHash('sha256').update(document).digest('base64url').slice(0, 27)}"` };
  };
  app.get(url, async (request, reply) => {
    const { document, etag } = (made ??= getDocument());
    void reply.headers({ ETag: etag, 'Cache-Control': 'no-cache' });
    const known = request.headers['if-none-match'];
    if (known !== undefined && known.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag))
      return reply.status(304).send();
    return reply.type('application/json; charset=utf-8').send(document);
  });
}

function html(reply: FastifyReply, text: string): FastifyReply {
  return reply.headers({ 'Cache-Control': 'no-cache' }).type('text/html; charset=utf-8').send(text);
}

function referencePage(root: string): string {
  return page({
    root,
    title: 'API reference',
    current: 'docs',
    head: `<link rel="stylesheet" href="${root}docs/assets/reference.css">`,
    body: `<div id="reference"></div>
<script src="${root}docs/assets/swagger-ui-bundle.js"></script>
<script src="${root}docs/assets/reference.js"></script>`,
  });
}
