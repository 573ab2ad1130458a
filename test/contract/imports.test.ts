import { globSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

/*
 * Imports run one way: main → app → http, delivery → features → kernel, mail → db. Packages and Node's own modules are
 * free; cycles are the linter's business.
 */

type Layer = { name: string; rank: number; holds: RegExp };

const layers: Layer[] = [
  { name: 'db', rank: 0, holds: /^db\// },
  { name: 'kernel', rank: 1, holds: /^server\/kernel\// },
  { name: 'mail', rank: 1, holds: /^server\/mail\// },
  { name: 'features', rank: 2, holds: /^server\/features\// },
  { name: 'http', rank: 3, holds: /^server\/http\// },
  { name: 'delivery', rank: 3, holds: /^server\/delivery\// },
  { name: 'app', rank: 4, holds: /^server\/(app|router|log|log-output)\.ts$/ },
  { name: 'main', rank: 5, holds: /^server\/([\w-]+\.ts|(demo|commands)\/.*)$/ },
];

/** Layers of one rank do not know each other, but for these: a kernel's reaction is handed a mailer. */
const acquainted = new Set(['kernel mail', 'mail kernel']);

/** Written in code, comments aside: `from '…'`, `import '…'`, `import('…')`. */
const specifiers = /(?:\bfrom|\bimport)\s*\(?\s*'([^']+)'/g;

function importsOf(path: string, source: string): string[] {
  const code = source.replaceAll(/\/\*[^]*?\*\/|^\s*\/\/.*$/gm, '');
  return [...code.matchAll(specifiers)]
    .map(([, specifier]) => specifier!)
    .filter((specifier) => specifier.startsWith('.'))
    .map((specifier) => posix.join(posix.dirname(path), specifier));
}

const layerOf = (path: string): Layer | undefined => layers.find(({ holds }) => holds.test(path));
const featureOf = (path: string): string | undefined => /^server\/features\/([^/]+)\//.exec(path)?.[1];

/** A program that is run: each process reads its environment in one place. */
const isProcess = (path: string): boolean => /^server\/(main|commands\/[\w-]+)\.ts$/.test(path);

/** A file that defines an operation: it says who may call it. */
const isOperation = (source: string): boolean => /from '[./]+kernel\/procedures\.ts'/.test(source);

function violationsIn(files: ReadonlyMap<string, string>): string[] {
  const found: string[] = [];
  for (const [path, source] of files) {
    const from = layerOf(path);
    if (!from) {
      found.push(`${path} stands in no layer`);
      continue;
    }
    for (const target of importsOf(path, source)) {
      const to = layerOf(target);
      const refuse = (why: string) => found.push(`${path} imports ${target}: ${why}`);
      if (!to || !files.has(target)) refuse('there is no such file in a layer');
      else if (to.rank > from.rank) refuse(`${from.name} may not know ${to.name}`);
      else if (to.rank === from.rank && to.name !== from.name && !acquainted.has(`${from.name} ${to.name}`))
        refuse(`${from.name} and ${to.name} do not know each other`);
      else if (target.endsWith('/index.ts') && featureOf(target) && path !== 'server/router.ts')
        refuse('the router of a feature is for server/router.ts');
      else if (featureOf(target) && isOperation(files.get(target)!) && featureOf(path) !== featureOf(target))
        refuse('operations are for their own feature');
    }
    if (/\bprocess\.env\b/.test(source) && !isProcess(path)) found.push(`${path} reads the environment`);
  }
  return found;
}

function readFiles(): Map<string, string> {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const paths = globSync('{server,db}/**/*.ts', { cwd: root }).map((path) => path.replaceAll('\\', '/'));
  return new Map(paths.map((path) => [path, readFileSync(`${root}/${path}`, 'utf8')]));
}

test('imports run one way', () => {
  const files = readFiles();
  expect(files.size).toBeGreaterThan(100);
  expect([...files].flatMap(([path, source]) => importsOf(path, source)).length).toBeGreaterThan(400);
  expect(violationsIn(files)).toEqual([]);
});

test('the client imports nothing but itself, so that nothing of the service reaches a page', () => {
  const root = fileURLToPath(new URL('../../client-sdk/src', import.meta.url));
  const paths = globSync('**/*.ts', { cwd: root });
  expect(paths.length).toBeGreaterThan(10);
  const imported = paths.flatMap((path) => {
    const code = readFileSync(`${root}/${path}`, 'utf8').replaceAll(/\/\*[^]*?\*\/|^\s*\/\/.*$/gm, '');
    return [...code.matchAll(specifiers)].map(([, specifier]) => specifier!);
  });
  expect(imported.length).toBeGreaterThan(20);
  expect(imported.filter((specifier) => !/^\.\/[\w-]+\.ts$/.test(specifier))).toEqual([]);
});

describe('the import rule notices', () => {
  const files = readFiles();
  test.each([
    [
      'server/kernel/wire.ts',
      "import { findTask } from '../features/tasks/queries.ts';",
      'kernel may not know features',
    ],
    ['db/open.ts', "export { x } from '../server/kernel/wire.ts';", 'db may not know kernel'],
    ['server/features/tasks/queries.ts', "import type { App } from '../../app.ts';", 'features may not know app'],
    ['server/http/rest.ts', "const x = await import('../main.ts');", 'http may not know main'],
    ['server/http/rest.ts', "import '../delivery/worker.ts';", 'do not know each other'],
    ['server/app.ts', "import {\n  start,\n} from './start.ts';", 'app may not know main'],
    [
      'server/features/tasks/queries.ts',
      "import { login } from '../auth/login.ts';",
      'operations are for their own feature',
    ],
    [
      'server/delivery/worker.ts',
      "import { login } from '../features/auth/login.ts';",
      'operations are for their own feature',
    ],
    ['server/features/tasks/queries.ts', "import { auth } from '../auth/index.ts';", 'the router of a feature'],
    ['server/kernel/wire.ts', "import { x } from '../../test/support/actor.ts';", 'no such file in a layer'],
    ['server/kernel/wire.ts', 'const { PORT } = process.env;', 'reads the environment'],
    ['scripts/once.ts', '', 'stands in no layer'],
  ])('%s: %s', (path, line, why) => {
    const changed = new Map(files).set(path, `${files.get(path) ?? ''}\n${line}`);
    expect(violationsIn(changed)).toEqual([expect.stringContaining(why)]);
  });
});
