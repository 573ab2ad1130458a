import { globSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

/*
 * Imports run one way: main → app → surfaces, events, jobs → features → kernel → mail → platform → errors, db. Packages and
 * Node's own modules are free; cycles of files are the linter's business, cycles of features are refused below.
 */

type Layer = { name: string; rank: number; holds: RegExp };

const layers: Layer[] = [
  { name: 'db', rank: 0, holds: /^db\// },
  { name: 'errors', rank: 0, holds: /^server\/errors\// },
  { name: 'platform', rank: 1, holds: /^server\/platform\// },
  { name: 'mail', rank: 2, holds: /^server\/mail\// },
  { name: 'kernel', rank: 3, holds: /^server\/kernel\// },
  { name: 'features', rank: 4, holds: /^server\/features\// },
  { name: 'surfaces', rank: 5, holds: /^server\/surfaces\// },
  { name: 'events', rank: 5, holds: /^server\/events\// },
  { name: 'jobs', rank: 5, holds: /^server\/jobs\// },
  { name: 'webhooks', rank: 5, holds: /^server\/webhooks\// },
  { name: 'app', rank: 6, holds: /^server\/(app|router)\.ts$/ },
  { name: 'main', rank: 7, holds: /^server\/([\w-]+\.ts|(demo|commands|startup)\/.*)$/ },
];

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
      else if (to.rank === from.rank && to.name !== from.name)
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

/** One cycle of features that use each other's queries, if there is any. */
function findCycle(files: ReadonlyMap<string, string>): string[] | undefined {
  const uses = new Map<string, Set<string>>();
  for (const [path, source] of files) {
    const from = featureOf(path);
    if (from === undefined) continue;
    const used = uses.get(from) ?? new Set();
    for (const target of importsOf(path, source)) used.add(featureOf(target) ?? from);
    used.delete(from);
    uses.set(from, used);
  }
  const isDone = new Set<string>();
  const visit = (feature: string, path: string[]): string[] | undefined => {
    if (path.includes(feature)) return [...path.slice(path.indexOf(feature)), feature];
    if (isDone.has(feature)) return undefined;
    for (const used of uses.get(feature) ?? []) {
      const cycle = visit(used, [...path, feature]);
      if (cycle) return cycle;
    }
    isDone.add(feature);
    return undefined;
  };
  for (const feature of uses.keys()) {
    const cycle = visit(feature, []);
    if (cycle) return cycle;
  }
  return undefined;
}

test('features form no cycle', () => {
  const files = readFiles();
  expect(findCycle(files)).toBeUndefined();
  const tied = new Map(files)
    .set('server/features/notices/tied.ts', "import { findTask } from '../tasks/queries.ts';")
    .set('server/features/tasks/tied.ts', "import { deviceOf } from '../notices/device.ts';");
  expect(findCycle(tied)).toBeDefined();
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
      'server/kernel/context.ts',
      "import { findTask } from '../features/tasks/queries.ts';",
      'kernel may not know features',
    ],
    ['db/open.ts', "export { x } from '../server/kernel/context.ts';", 'db may not know kernel'],
    ['server/features/tasks/queries.ts', "import type { App } from '../../app.ts';", 'features may not know app'],
    ['server/surfaces/rest/rest.ts', "const x = await import('../../main.ts');", 'surfaces may not know main'],
    ['server/surfaces/rest/rest.ts', "import '../../jobs/worker.ts';", 'do not know each other'],
    ['server/app.ts', "import {\n  start,\n} from './start.ts';", 'app may not know main'],
    [
      'server/features/tasks/queries.ts',
      "import { login } from '../auth/login.ts';",
      'operations are for their own feature',
    ],
    [
      'server/jobs/worker.ts',
      "import { login } from '../features/auth/login.ts';",
      'operations are for their own feature',
    ],
    ['server/features/tasks/queries.ts', "import { auth } from '../auth/index.ts';", 'the router of a feature'],
    ['server/kernel/context.ts', "import { x } from '../../test/support/actor.ts';", 'no such file in a layer'],
    ['server/kernel/context.ts', 'const { PORT } = process.env;', 'reads the environment'],
    ['scripts/once.ts', '', 'stands in no layer'],
  ])('%s: %s', (path, line, why) => {
    const changed = new Map(files).set(path, `${files.get(path) ?? ''}\n${line}`);
    expect(violationsIn(changed)).toEqual([expect.stringContaining(why)]);
  });
});
