import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { operationsOf } from '../../server/kernel/operations.ts';
import { appRouter } from '../../server/router.ts';
import { startIssuer } from '../support/issuer.ts';
import { endAllProcesses, makeHome, startProcess } from '../support/process.ts';
import { exampleWith, restOf } from '../support/smoke-calls.ts';

afterAll(endAllProcesses);

const run = promisify(execFile);
const own = fileURLToPath(new URL('third-party/', import.meta.url));
const modules = fileURLToPath(new URL('../../node_modules/', import.meta.url));
const google = await startIssuer(() => new Date());
const apple = await startIssuer(() => new Date());

/** As strict as a careful project has it, and without leave to skip the checks of what was generated. */
const compilerOptions = {
  target: 'es2024',
  module: 'nodenext',
  types: ['node'],
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  noPropertyAccessFromIndexSignature: true,
  erasableSyntaxOnly: true,
  verbatimModuleSyntax: true,
  allowImportingTsExtensions: true,
  skipLibCheck: false,
  noEmit: true,
};

/** A project of its own, which has the packages that it needs and nothing of the service. */
async function makeProject(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'wms-third-party-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  for (const file of (await readdir(own)).filter((name) => name.endsWith('.ts')))
    await copyFile(join(own, file), join(folder, file));
  await symlink(modules, join(folder, 'node_modules'));
  await writeFile(join(folder, 'package.json'), '{"type": "module"}');
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
  return folder;
}

/** Calls of the operations that the tour leaves out, each by its example with things of its own. */
async function writeExamples(): Promise<string> {
  const files = (await readdir(own)).filter((name) => name.endsWith('.ts'));
  const tour = (await Promise.all(files.map((name) => readFile(join(own, name), 'utf8')))).join('\n');
  const toured = new Set(
    [...tour.matchAll(/\.([A-Z]+)\(\s*'([^']+)'/g)].map(([, method, path]) => `${method} ${path}`),
  );
  const calls = operationsOf(appRouter)
    .filter(({ method, path }) => !toured.has(`${method} ${path}`))
    .map((operation) => {
      const { method, path, meta, pathParameters } = operation;
      const input = exampleWith(operation, (kind) => `things.${kind}`);
      const rest = meta.bodyField === undefined ? restOf(operation, input) : input[meta.bodyField];
      const inPath = Object.fromEntries(pathParameters.map((name) => [name, input[name]]));
      const hasRest = Object.keys(rest as object).length > 0;
      const given = {
        params: {
          ...(pathParameters.length > 0 ? { path: inPath } : {}),
          ...(hasRest && method === 'GET' ? { query: rest } : {}),
        },
        ...(hasRest && method !== 'GET' ? { body: rest } : {}),
      };
      const options = JSON.stringify(given).replaceAll(/"(things\.\w+)"/g, '$1');
      return `{ const { admin, things } = await makeThings(); await answerOf(admin.${method}('${path}', ${options})); }`;
    });
  const imports = "import { answerOf } from './client.ts';\nimport { makeThings } from './things.ts';\n";
  return `${imports}export async function callExamples() {\n${calls.join('\n')}\n}\n`;
}

test('a client that a public generator made of the document drives every operation', { timeout: 180_000 }, async () => {
  const home = await makeHome();
  const service = await startProcess({
    ...home.environment,
    GOOGLE_ISSUER: google.issuer,
    GOOGLE_JWKS_URL: google.jwksUrl,
    GOOGLE_CLIENT_IDS: google.audience,
    APPLE_ISSUER: apple.issuer,
    APPLE_JWKS_URL: apple.jwksUrl,
    APPLE_CLIENT_IDS: apple.audience,
  });
  onTestFinished(async () => {
    service.signal('SIGTERM');
    await service.ended;
    await home.remove();
  });
  const folder = await makeProject();

  await writeFile(join(folder, 'examples.ts'), await writeExamples());
  const generator = join(modules, 'openapi-typescript/bin/cli.js');
  const hook = join(own, 'with-compiler-api.mjs');
  await run(process.execPath, ['--import', hook, generator, `${service.url}/openapi.json`, '-o', 'schema.d.ts'], {
    cwd: folder,
  });
  const checked = await run(join(modules, '.bin/tsc'), ['-p', folder]).catch((error: { stdout: string }) => error);
  expect(checked.stdout).toBe('');

  const { stdout } = await run(process.execPath, ['consumer.ts'], {
    cwd: folder,
    // It waits for mails and notifications, which could fail to come.
    timeout: 90_000,
    env: {
      BASE_URL: service.url,
      MAIL_FILE: join(home.folder, 'mail.jsonl'),
      GOOGLE_TOKEN: await google.sign({ email: 'ada@example.com' }),
      APPLE_TOKEN: await apple.sign({ email: 'ada@example.com' }),
    },
  });
  const lines = operationsOf(appRouter).map(({ method, path }) => `${method} ${path}`);
  expect(new Set(JSON.parse(stdout) as string[])).toEqual(new Set(lines));
});
