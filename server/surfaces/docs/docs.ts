import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { AnyTRPCRouter } from '@trpc/server';
import type { FastifyInstance } from 'fastify';
import { NOT_FOUND } from '../../errors/errors.ts';
import { guideListPage, guidePage, guides } from './guides.ts';
import { errorListPage, errorPage, page } from './pages.ts';
import { registerClientPackage } from './client-package.ts';
import { createAsyncDocument } from '../asyncapi/asyncapi.ts';
import { operationsOf } from '../../kernel/operations.ts';
import { sendProblem } from '../http/problem.ts';
import { pagePolicy } from '../http/security-headers.ts';
import { serveFiles, staticDocument, type SendStatic } from '../http/static-document.ts';

const own = join(import.meta.dirname, 'files');
const swaggerUi = join(dirname(createRequire(import.meta.url).resolve('@fastify/swagger-ui')), 'static');

/**
 * /openapi.json, /asyncapi.json, their pages and the client. Everything is served from here: the pages need no other host.
 */
export function registerDocs(app: FastifyInstance, router: AnyTRPCRouter, publicUrl: string): void {
  const json = (make: () => object | Promise<object>) =>
    staticDocument({
      type: 'application/json; charset=utf-8',
      read: async () => Buffer.from(JSON.stringify(await make())),
    });
  app.get(
    '/openapi.json',
    json(async () => {
      // The generator is loaded with it: it is a twelfth of all files, and no other path needs it.
      const { createDocument } = await import('../openapi/openapi.ts');
      return createDocument(router, publicUrl);
    }),
  );
  app.get(
    '/asyncapi.json',
    json(() => createAsyncDocument(router, publicUrl)),
  );

  registerClientPackage(app);

  const ownFiles = ['reference.js', 'reference.css', 'page.css', 'tokens.css', 'figtree.woff2', 'mark.svg'];
  serveFiles(app, '/docs/assets', own, ownFiles);
  serveFiles(app, '/docs/assets', swaggerUi, ['swagger-ui.css', 'swagger-ui-bundle.js']);

  // Relative: behind a proxy the service may have a prefix.
  app.get('/', async (_request, reply) => reply.header('Cache-Control', 'no-cache').redirect('docs', 302));
  const operations = operationsOf(router);
  const config = { policy: pagePolicy };
  for (const url of ['/docs', '/docs/'])
    app.get(
      url,
      { config },
      html(() => referencePage(rootOf(url))),
    );
  for (const url of ['/docs/errors', '/docs/errors/'])
    app.get(
      url,
      { config },
      html(() => errorListPage(rootOf(url))),
    );
  for (const url of ['/docs/guides', '/docs/guides/'])
    app.get(
      url,
      { config },
      html(() => guideListPage(rootOf(url))),
    );
  for (const name of guides)
    for (const url of [`/docs/guides/${name}`, `/docs/guides/${name}/`])
      app.get(
        url,
        { config },
        html(() => guidePage(name, rootOf(url), publicUrl)),
      );
  for (const url of ['/docs/errors/:code', '/docs/errors/:code/']) {
    const pages = new Map<string, SendStatic>();
    app.get<{ Params: { code: string } }>(url, { config }, async (request, reply) => {
      const { code } = request.params;
      const text = pages.has(code) ? undefined : errorPage(code, operations, rootOf(url));
      // Created for known codes only, so their number is bounded.
      if (text !== undefined)
        pages.set(
          code,
          html(() => text),
        );
      const send = pages.get(code);
      return send ? send(request, reply) : sendProblem(request, reply, NOT_FOUND());
    });
  }
}

/** The way from a page to the root of the service: behind a proxy that may have a prefix, which is not known here. */
const rootOf = (url: string): string => '../'.repeat(url.split('/').length - 2);

const html = (make: () => string | Promise<string>): SendStatic =>
  staticDocument({ type: 'text/html; charset=utf-8', read: async () => Buffer.from(await make()) });

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
