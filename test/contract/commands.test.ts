import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { readOptions as readChatOptions } from '../../bench/chat/options.ts';
import { readOptions } from '../../bench/operations/options.ts';
import { blocksOf, findPages, makeCheckout, runShell } from '../support/pages.ts';
import { notRun, openTour, runBy, shells } from '../support/tours.ts';

/* The commands of the pages that need no service, and that no command of any page goes without a test or a reason. */

const root = fileURLToPath(new URL('../..', import.meta.url));
const tour = await openTour('contract/commands.test.ts');
const checkout = await makeCheckout();
afterAll(() => checkout.remove());

const pages = await Promise.all((await findPages()).map(async (page) => ({ page, blocks: await blocksOf(page) })));
const linesOf = (page: string): string[] =>
  pages
    .filter((one) => one.page === page)
    .flatMap(({ blocks }) => blocks.filter(({ language }) => shells.includes(language)))
    .flatMap(({ text }) => text.split('\n'));

describe('every command of every page', () => {
  test('is run by one test file, which is there', async () => {
    const withCommands = pages.filter(({ blocks }) => blocks.some(({ language }) => shells.includes(language)));
    expect(withCommands.length).toBeGreaterThan(6);
    expect(Object.values(runBy).flat().toSorted()).toEqual(withCommands.map(({ page }) => page).toSorted());
    for (const file of Object.keys(runBy))
      expect(await readFile(`${root}/test/${file}`, 'utf8')).toContain(`openTour('${file}')`);
  });

  test('that is not run has a reason, and every reason has its command', () => {
    for (const [page, reasons] of Object.entries(notRun)) {
      expect([page, Object.keys(reasons).filter((line) => !linesOf(page).includes(line))]).toEqual([page, []]);
      const named = Object.values(reasons).flatMap((reason) => reason.match(/[\w/.-]+\.test\.ts/g) ?? []);
      expect(named.filter((file) => !existsSync(`${root}/test/${file}`))).toEqual([]);
    }
  });

  test('stands in a block that says what it is written in', async () => {
    const bare: string[] = [];
    for (const { page } of pages) {
      const fences = (await readFile(`${root}/${page}`, 'utf8')).match(/^ *```.*$/gm) ?? [];
      // Each second one ends a block.
      bare.push(...fences.filter((fence, index) => index % 2 === 0 && fence.trim() === '```').map(() => page));
    }
    expect(bare).toEqual([]);
    const consoles = pages.filter(({ blocks }) => blocks.some(({ language }) => language === 'console'));
    // Run by examples/readme.slow.test.ts.
    expect(consoles.map(({ page }) => page)).toEqual(['client-sdk/examples/README.md']);
  });
});

test('scripts and the bench say how they are called', async () => {
  const scripts = tour.takeAll('client-sdk/examples/README.md').join('\n');
  expect(await runShell(checkout.folder, scripts)).toMatch(/^Imports time logs from a CSV file\./);
  const bench = tour.takeAll('bench/README.md').join('\n');
  expect(await runShell(checkout.folder, bench)).toContain('npm run bench:chat [-- options]');
});

test('the bench takes the options with which it is shown', () => {
  const shown = linesOf('bench/README.md').filter((line) => line.startsWith('npm run ') && !line.includes('--help'));
  const parsed = shown.map((line) => {
    const [, name, given = ''] = /^npm run (\S+)(?: -- (.*?))?(?: +#.*)?$/.exec(line)!;
    const words = given.split(' ').filter((word) => word !== '');
    return name === 'bench' ? readOptions(words) : readChatOptions(words);
  });
  expect(parsed).toMatchObject([
    { short: false },
    { operations: ['list-comments'] },
    { check: true },
    {},
    { streams: 0 },
    { others: 18_500, stalled: 200 },
  ]);
});

test('the test files that CONTRIBUTING.md names are there, but the one that it shows', async () => {
  const named = (await readFile(`${root}/CONTRIBUTING.md`, 'utf8')).match(/(?<!\/\/ )\btest\/[\w./-]+\.ts\b/g) ?? [];
  expect(named.length).toBeGreaterThan(3);
  expect(named.filter((file) => !existsSync(`${root}/${file}`))).toEqual([]);
});

test('nothing is left of these pages', () => {
  expect(tour.left()).toEqual([]);
});
