import { existsSync, globSync, readdirSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { operationsOf, type Operation } from '../../server/kernel/operations.ts';
import { identifiersIn, kinds, type Kind } from '../../server/kernel/wire/identifiers.ts';
import type { KeyAccess } from '../../server/platform/scopes.ts';
import { appRouter } from '../../server/router.ts';

/** A name that no operation can have, told in a sentence. */
export class BadName extends Error {}

/** What a new operation is called everywhere, and where it stands. */
export type Plan = {
  /** The name of its constant, such as `archiveProject`. */
  constant: string;
  /** Its key in the feature's router, and its whole name there, such as `projects.archive`. */
  key: string;
  name: string;
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  path: string;
  /** What it asks of an API key: as the other operations of its feature. */
  keys: KeyAccess;
  /** The parameter of its path. */
  parameter: { name: string; kind: Kind } | undefined;
  file: string;
  routerFile: string;
  testFile: string;
};

const camelCase = (words: string): string => words.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
const singular = (noun: string): string => noun.replace(/ies$/, 'y').replace(/(?<!s)s$/, '');

export function planOperation(feature: string, operation: string): Plan {
  const features = readdirSync('server/features').filter((one) => existsSync(`server/features/${one}/index.ts`));
  if (!features.includes(feature))
    throw new BadName(`There is no feature "${feature}" with operations: take one of ${features.join(', ')}.`);
  const [, verb = '', noun = ''] = /^([a-z]+)-([a-z]+(?:-[a-z]+)*)$/.exec(operation) ?? [];
  if (verb === '')
    throw new BadName(`"${operation}" is no name of an operation: write a verb and a noun, such as archive-project.`);

  const section = camelCase(feature);
  const thing = singular(feature);
  const isOwn = [thing, feature].includes(noun);
  const key = isOwn ? verb : camelCase(operation);
  const name = `${section}.${key}`;
  const file = `server/features/${feature}/${operation}.ts`;
  if (existsSync(file) || name in appRouter._def.procedures)
    throw new BadName(`There is an operation ${name} or a file ${file} already: take another verb or noun.`);

  const operations = operationsOf(appRouter);
  const kind = kinds.find((one) => one === camelCase(thing));
  const line = restLineOf({ verb, noun: isOwn ? undefined : noun, feature, kind, operations });
  const sameLine = operations.find(
    ({ method, path }) => method === line.method && shapeOf(path) === shapeOf(line.path),
  );
  if (sameLine)
    throw new BadName(`${line.method} ${line.path} is ${sameLine.name} already: take another verb or noun.`);

  const [tests] = globSync(`test/features/*/${feature}*.test.ts`);
  const testFolder = tests === undefined ? feature : basename(dirname(tests));
  return {
    constant: camelCase(operation),
    key,
    name,
    ...line,
    keys: operations.find((one) => one.name.startsWith(`${section}.`) && one.meta.keys)?.meta.keys ?? 'everything',
    file,
    routerFile: `server/features/${feature}/index.ts`,
    testFile: `test/features/${testFolder}/${operation}.test.ts`,
  };
}

const shapeOf = (path: string): string => path.replaceAll(/\{\w+\}/g, '{}');

const methods: Record<string, Plan['method']> = { get: 'GET', list: 'GET', update: 'PATCH', delete: 'DELETE' };

/** `noun` only where it is not the feature's own thing. */
function restLineOf({
  verb,
  noun,
  feature,
  kind,
  operations,
}: {
  verb: string;
  noun: string | undefined;
  feature: string;
  kind: Kind | undefined;
  operations: Operation[];
}): Pick<Plan, 'method' | 'path' | 'parameter'> {
  const method = methods[verb] ?? 'POST';
  const isOfAll = kind === undefined || (noun === undefined && ['create', 'list'].includes(verb));
  const parameter = isOfAll ? undefined : parameterOf(feature, kindFor(kind, method), operations);
  const one = `/api/${feature}/${parameter === undefined ? '' : `{${parameter.name}}/`}`;
  const isPlain = verb in methods || verb === 'create';
  const rest = noun === undefined ? (isPlain ? '' : `${verb}/`) : isPlain ? `${noun}/` : `${verb}-${noun}/`;
  return { method, path: one + rest, parameter };
}

/** An operation on an employee is tried on a colleague. */
const kindFor = (kind: Kind, method: Plan['method']): Kind =>
  kind === 'employee' && method !== 'GET' ? 'colleague' : kind;

/** What the other operations of the feature call it. */
function parameterOf(feature: string, kind: Kind, operations: Operation[]): { name: string; kind: Kind } {
  const found = operations
    .filter(({ name }) => name.startsWith(`${camelCase(feature)}.`))
    .flatMap(({ input, pathParameters }) =>
      (input ? identifiersIn(input) : []).filter((one) => one.kind === kind && pathParameters.includes(one.name)),
    );
  return { name: found[0]?.name ?? `${singular(feature).replaceAll('-', '_')}_id`, kind };
}
