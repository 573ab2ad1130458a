import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { describeSettings } from '../../server/config.ts';
import { blocksOf, findPages, makeCheckout, runShell, startIn } from '../support/pages.ts';
import { endAllProcesses, makeHome, type Home, type ServiceProcess } from '../support/process.ts';
import { openTour } from '../support/tours.ts';

/* The tours of the README and of pages in docs, taken one after the other with one service, as a newcomer would. */

const tour = await openTour('contract/readme.slow.test.ts');
const timeout = 180_000;
const checkout = await makeCheckout();
let home: Home;
let service: ServiceProcess;

beforeAll(async () => {
  home = await makeHome();
  const { DATABASE_URL = '' } = home.environment;
  service = await startIn(checkout.folder, { DATABASE_URL });
}, timeout);
afterAll(async () => {
  service?.signal('SIGTERM');
  await service?.ended;
  await endAllProcesses();
  await checkout.remove();
  await home?.remove();
});

const here = (text: string): string => text.replaceAll('http://127.0.0.1:3000', service.url);

/** The commands of a page, at the service's real address; of the README those under a heading. */
const commandsOf = (page: string, heading?: string): string[] => tour.takeAll(page, heading).map(here);

const answersIn = (stdout: string) =>
  stdout.split(/(?<=\})\n?(?=\{)/).map((answer) => JSON.parse(answer) as Record<string, unknown>);

describe('the README', () => {
  test('names the command with which these tests began', () => {
    expect(commandsOf('README.md', 'Start')).toEqual(['npm start\n']);
  });

  test('shows the banner that the start prints', async () => {
    const { text } = (await blocksOf('README.md')).find(({ language }) => language === 'text')!;
    const names = (banner: string) => banner.match(/^ {2}\w[\w ]+?(?= {2})/gm);
    expect(names(text)).toEqual(names(service.stdout()));
  });

  test('takes TypeScript programs through the client', { timeout }, async () => {
    const programs = (await blocksOf('README.md')).filter(({ language }) => language === 'ts');
    expect(programs.map(({ heading }) => heading)).toEqual(['From TypeScript']);
    await writeFile(join(checkout.folder, 'tour.ts'), here(programs[0]!.text));
    const said = await runShell(checkout.folder, 'PATH=node_modules/.bin:$PATH node tour.ts');
    const lines = said.trimEnd().split('\n');
    expect(lines.slice(-3)).toEqual(['90 minutes', 'logged before', 'said: Warm white, please.']);
    expect(lines.length).toBeGreaterThan(3);
  });

  test('takes third parties over REST', { timeout }, async () => {
    const said = await runShell(checkout.folder, commandsOf('README.md', 'Over REST').join('\n'));
    expect(answersIn(said)).toMatchObject([
      { projects: { total: expect.any(Number) }, tasks: { byStatus: {} } },
      { page: 1, results: [{ status: 'in_review' }] },
      { name: 'Spring fair', allocatedHours: 40 },
    ]);
  });

  test('takes scripts by an API key', { timeout }, async () => {
    const said = await runShell(checkout.folder, commandsOf('README.md', 'From scripts').join('\n'), {
      WMS_URL: service.url,
    });
    expect(said).toMatch(/node --env-file=wms\.env/);
    const hours = await readFile(join(checkout.folder, 'hours.csv'), 'utf8');
    expect(hours.trimEnd().split('\n').at(-1)).toMatch(/^Total,/);
  });

  test('makes keys for production', { timeout }, async () => {
    const said = await runShell(checkout.folder, commandsOf('README.md', 'In production').join('\n'));
    expect(said).toMatch(/^\{"keys":\[\{.*"crv":"Ed25519"/m);
  });
});

test(
  'docs/rest.md leads third parties from the registration to a client of their own, and the pages on money, exports, imports and OAuth to a file',
  { timeout },
  async () => {
    // What npx would fetch is here already, but for the TypeScript 5 that it would bring along.
    const hook = new URL('third-party/with-compiler-api.mjs', import.meta.url).href;
    const generator = `NODE_OPTIONS='--import ${hook}' '${checkout.folder}/node_modules/.bin/openapi-typescript'`;
    const rest = commandsOf('docs/rest.md').map((text) => text.replace('npx --yes openapi-typescript@7', generator));
    const pages = ['docs/money.md', 'docs/csv-imports.md', 'docs/mcp.md', 'docs/exports.md'];
    const ofPages = pages.flatMap((page) => commandsOf(page));
    const steps = [...rest, ...ofPages, 'head -c 2 company.zip', ...commandsOf('docs/oauth.md'), 'cat consent.html'];
    const show = 'cat work-management.d.ts';
    const said = await runShell(checkout.folder, [...steps, show].join(`\nprintf '\\n---\\n'\n`), {
      TMPDIR: checkout.folder,
    });
    const parts = said.split(/^---\n/m).map((part) => part.trim());
    const [
      ,
      ,
      ,
      team,
      work,
      reading,
      search,
      named,
      due,
      end,
      files,
      wrong,
      refusals,
      twice,
      limits,
      ,
      key,
      ,
      money,
      imported,
      asked,
      ,
      file,
      ,
      ,
      renewed,
      consentPage,
      types,
    ] = parts;
    expect(answersIn(team!)).toMatchObject([{ email: 'grace@example.com', designation: 'Engineer' }]);
    expect(answersIn(work!)).toMatchObject([
      { durationSeconds: 3600, description: 'First gear' },
      { mentions: [{ email: 'grace@example.com' }] },
    ]);
    expect(answersIn(reading!)).toMatchObject([
      { employees: [{ name: 'Ada Lovelace' }, { name: 'Grace Hopper' }], deletedEmployees: [] },
      { taskLogs: [{ durationSeconds: 3600 }], totalSeconds: 3600 },
      { comments: [{ likeCount: 0, replies: [] }] },
    ]);
    expect([search, named, due, end, files]).toEqual(['Cut the gears', 'Difference Engine', '0', '', '']);
    for (const [name, magic] of [
      ['hours.xlsx', 'PK'],
      ['hours.pdf', '%PDF-'],
    ] as const)
      expect((await readFile(join(checkout.folder, name), 'latin1')).slice(0, magic.length)).toBe(magic);
    expect(answersIn(wrong!)).toMatchObject([
      { status: 400, code: 'VALIDATION_FAILED', issues: [{ path: ['start_time'] }, { path: ['end_time'] }] },
    ]);
    expect(refusals).toBe("[ 'name' ]\n1");
    expect(twice).toBe('IDEMPOTENCY_KEY_REUSED');
    expect(limits).toMatch(/^ratelimit-policy: 600;w=60\s+ratelimit-limit: 600$/im);
    expect(answersIn(key!)).toMatchObject([
      { company: { name: 'Analytical Engines' } },
      { key: { scopes: ['company:read'] }, employee: { email: 'ada@example.com' } },
    ]);
    expect(answersIn(money!)).toMatchObject([
      { hourlyRate: { minorUnits: 9500 } },
      { dryRun: true, changed: 1, after: [{ minorUnits: 9500, currency: 'EUR' }] },
      { rows: [{ amounts: [] }], totalAmounts: [] },
    ]);
    expect(answersIn(imported!)).toMatchObject([{ dry_run: true, created: { projects: 1, tasks: 1, logs: 1 } }]);
    expect(asked).toMatch(/Analytical Engines.*ada@example\.com|ada@example\.com.*Analytical Engines/);
    expect(file).toBe('PK');
    expect(answersIn(renewed!)).toMatchObject([{ token_type: 'Bearer', scope: 'time:read' }, {}]);
    expect(consentPage).toContain('this computer (127.0.0.1:8765)');
    expect(types).toContain('"/tasklog/create/": {');
  },
);

test('every command of these pages is run by a test above', () => {
  expect(tour.left()).toEqual([]);
});

describe('every page', () => {
  test('leads to files that are there and to headings that are on them', async () => {
    const lost: string[] = [];
    for (const page of await findPages()) {
      const at = new URL(`../../${page}`, import.meta.url);
      const links = [...(await readFile(at, 'utf8')).matchAll(/\]\((?!https?:)([^)\s]*)\)/g)].map(([, link]) => link!);
      for (const link of links) {
        const target = new URL(link, at);
        const text = await readFile(target, 'utf8').catch((error: NodeJS.ErrnoException) =>
          error.code === 'EISDIR' ? '' : undefined,
        );
        const anchors = [...(text ?? '').matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
          heading!
            .toLowerCase()
            .replaceAll(/[^\w -]/g, '')
            .replaceAll(' ', '-'),
        );
        const isThere = text !== undefined && (target.hash === '' || anchors.includes(target.hash.slice(1)));
        if (!isThere) lost.push(`${page}: ${link}`);
      }
    }
    expect(lost).toEqual([]);
  });

  test('names only npm scripts that there are', async () => {
    const { scripts } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8')) as {
      scripts: Record<string, string>;
    };
    const texts = await Promise.all(
      (await findPages()).map((page) => readFile(new URL(`../../${page}`, import.meta.url), 'utf8')),
    );
    const named = texts.flatMap((text) =>
      [...text.matchAll(/npm run (?:--silent )?([\w:-]+)/g)].map(([, name]) => name!),
    );
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((name) => !(name in scripts))).toEqual([]);
  });
});

test('the table of settings is that of the program', async () => {
  const rows = describeSettings().map(
    ({ name, description, default: value }) =>
      `| \`${name}\` | ${description} | ${value === '' ? '' : `\`${value}\``} |`,
  );
  const page = await readFile(new URL('../../docs/operations.md', import.meta.url), 'utf8');
  const table = /<!-- settings -->\n([\s\S]*?)\n<!-- \/settings -->/.exec(page)?.[1]?.split('\n').slice(2);
  expect(table).toEqual(rows);
});
