import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

/*
 * Statements of a transaction take row locks in the order in which they are sent. `Promise.all` does not say that order, and
 * one more `await` before a statement changes it; `inOrder` says it. A query has no transaction, so it may use both.
 */

const mayDisorder = /\bPromise\.(?:all|allSettled|race|any)\b/;
const isQuery = (source: string): boolean => source.includes('.query(') && !source.includes('.mutation(');

const violationsIn = (files: ReadonlyMap<string, string>): string[] =>
  [...files].flatMap(([path, source]) => (mayDisorder.test(source) && !isQuery(source) ? [path] : []));

function readFeatures(): Map<string, string> {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const paths = globSync('server/features/**/*.ts', { cwd: root });
  return new Map(paths.map((path) => [path, readFileSync(`${root}/${path}`, 'utf8')]));
}

test('no mutation, job or query function of a feature leaves the order of its statements to Promise.all', () => {
  const files = readFeatures();
  expect(files.size).toBeGreaterThan(100);
  expect(violationsIn(files)).toEqual([]);
});

test('a mutation that uses Promise.all is named, and a query is not', () => {
  const files = new Map([
    ['get-report.ts', 'member.query(() => Promise.all([a(), b()]))'],
    ['create-report.ts', 'member.mutation(() => Promise.all([lockA(), lockB()]))'],
    ['queries.ts', 'await Promise.allSettled([insertA(db), insertB(db)])'],
    ['rename-report.ts', 'member.mutation(() => inOrder(db, [lockA, lockB]))'],
  ]);
  expect(violationsIn(files)).toEqual(['create-report.ts', 'queries.ts']);
});
