import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { NOT_FOUND } from '../../errors/errors.ts';
import { sendProblem } from '../http/problem.ts';
import { staticDocument } from '../http/static-document.ts';
import { createBuild } from './build.ts';

/** The client as a package, for installations without a registry. */
export const clientPackage = createBuild({
  folder: 'client-sdk/packed',
  source: [
    'tsconfig.json',
    'client-sdk/*.{json,md,ts}',
    'client-sdk/{src,command,docs}/**',
    'client-sdk/examples/terminal/plain-text.ts',
  ],
  script: 'client-sdk/pack.ts',
  builder: 'tsdown',
});

export const tarballName = 'client.tgz';

/** Serves the client at /client.tgz, for `npm install`. It is looked for, and if need be built, at the first request. */
export function registerClientPackage(app: FastifyInstance): void {
  let problem: Promise<string | undefined> | undefined;
  const send = staticDocument({
    type: 'application/gzip',
    read: () => readFileSync(join(clientPackage.folder, tarballName)),
  });
  app.get(`/${tarballName}`, async (request, reply) => {
    const why = await (problem ??= clientPackage.prepare());
    if (why === undefined) return send(request, reply);
    const detail = `The client is not served here: ${why}. Build it with \`npm run pack:sdk\` where they are.`;
    return sendProblem(request, reply, NOT_FOUND({ detail }));
  });
}
