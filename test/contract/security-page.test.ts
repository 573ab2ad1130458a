import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

/* docs/security.md is worth as much as it can be checked. */

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const page = read('docs/security.md');

/** Of each row of the requirements: their numbers, and how they stand. */
const rows = [...page.matchAll(/^\| ((?:\d+\.\d+\.\d+(?:, )?)+) \| [^|]+ \| ([^|]+) \|$/gm)].map(
  ([, numbers, state]) => ({ numbers: numbers!.split(', '), state: state! }),
);

/** How many requirements levels 1 and 2 of ASVS 5.0.0 have in each chapter. */
const counts = {
  1: 27,
  2: 11,
  3: 19,
  4: 10,
  5: 9,
  6: 35,
  7: 18,
  8: 7,
  9: 7,
  10: 29,
  11: 14,
  12: 9,
  13: 13,
  14: 9,
  15: 13,
  16: 16,
};

test('each test that is named exists', () => {
  const named = [...new Set(page.match(/test\/[\w/-]+\.test\.ts/g))];
  expect(named.length).toBeGreaterThan(40);
  expect(named.filter((path) => !existsSync(new URL(`../../${path}`, import.meta.url)))).toEqual([]);
});

test('each requirement is met by a test or in a document, not met for a reason, or outside', () => {
  expect(rows.length).toBeGreaterThan(120);
  for (const { numbers, state } of rows) {
    expect({ numbers, state }).toEqual({
      numbers,
      state: expect.stringMatching(/^(Met by `test\/|Met in |Met here: |Not met, because |Outside: )/),
    });
  }
});

test('each requirement of a chapter stands there once', () => {
  const listed = rows.flatMap(({ numbers }) => numbers);
  expect(new Set(listed).size).toBe(listed.length);
  const byChapter = Object.fromEntries(
    Object.keys(counts).map((chapter) => [chapter, listed.filter((number) => number.startsWith(`${chapter}.`)).length]),
  );
  expect(byChapter).toEqual(counts);
});

test('the page is found from where operators look', () => {
  expect(read('docs/operations.md')).toContain('(security.md)');
});
