import { blocksOf } from './pages.ts';

/*
 * Every command on a page for readers is run by a test, or listed here with the reason why none does. A tour hands out the
 * commands of pages one block after the other, and knows in the end what nobody took.
 */

/** Which test file, in `test/`, runs the commands of which pages. */
export const runBy: Record<string, string[]> = {
  'contract/readme.slow.test.ts': [
    'README.md',
    'docs/rest.md',
    'docs/money.md',
    'docs/csv-imports.md',
    'docs/mcp.md',
    'docs/exports.md',
    'docs/oauth.md',
  ],
  'contract/operations.slow.test.ts': ['docs/operations.md', 'docs/upgrading.md', 'docs/audit.md'],
  'contract/walk-through.slow.test.ts': ['CONTRIBUTING.md'],
  'contract/commands.test.ts': [
    'client-sdk/README.md',
    'client-sdk/docs/publishing.md',
    'client-sdk/docs/react.md',
    'client-sdk/examples/README.md',
    'bench/README.md',
  ],
  'command/page.slow.test.ts': ['client-sdk/docs/command.md'],
};

const installs =
  'it would replace the packages that the tests run on; faults/production-packages.slow.test.ts starts on them';
const imports = 'faults/import-company.slow.test.ts runs these commands';
const servedClient = 'contract/client-package.slow.test.ts installs what the service serves';
const packedClient = 'sdk/package.slow.test.ts packs it in a copy';
const isTheSuite = 'it is this suite';
const inCi = '.ci/run runs it after the suite';
const takesLong = 'it measures for minutes; contract/commands.test.ts holds its options against the program';

/** Command lines that no test runs, by page, and why. */
export const notRun: Record<string, Record<string, string>> = {
  'README.md': { 'npm ci': installs },
  'docs/operations.md': {
    'npm ci --omit=dev': installs,
    'npm run cluster': 'it needs packages of Debian',
    'npm run cluster -- --check': inCi,
  },
  'docs/upgrading.md': { 'npm ci --omit=dev': installs },
  'docs/exports.md': {
    'npm run import-company -- company.zip --check': imports,
    'npm run import-company -- company.zip': imports,
    'npm run verify-totals': imports,
  },
  'CONTRIBUTING.md': {
    'npm ci': installs,
    'npm start          # a service with a demo company; the banner says where everything is':
      'contract/readme.slow.test.ts starts it',
    'npm test           # all but the slow tests, on the embedded database: four minutes on two cores': isTheSuite,
    'npm run test:all                                                           # with the slow ones': isTheSuite,
    'npm run check      # format, lint, types, unused code, schema and contract: what a commit must pass': inCi,
    'npx vitest run test/features/work/tasks.test.ts': isTheSuite,
    'TEST_DATABASE_URL=postgres://postgres@127.0.0.1:5432/postgres npm test    # on PostgreSQL; the role must create databases':
      isTheSuite,
    'TEST_DATABASE_POOLER=transaction TEST_DATABASE_URL=postgres://postgres@127.0.0.1:5432/postgres npm test    # through PgBouncer, which the run starts':
      isTheSuite,
    'TEST_REDIS_URL=redis://127.0.0.1:6379 npm test                             # with the tests that need Redis':
      isTheSuite,
    '.ci/run                                                                    # all of it, as CI does; starts what is missing':
      'it runs this suite',
  },
  'client-sdk/README.md': {
    'npm install work-management-client': 'it needs a registry; sdk/package.slow.test.ts installs the packed package',
  },
  'client-sdk/docs/publishing.md': {
    'curl -fO http://127.0.0.1:3000/client.tgz': servedClient,
    'npm install ./client.tgz': servedClient,
    'cd client-sdk': packedClient,
    'npm pack --dry-run': packedClient,
    'npm publish --registry https://npm.example.com': 'it publishes',
  },
  'client-sdk/docs/command.md': {
    'npm install --global http://127.0.0.1:3000/client.tgz': servedClient,
  },
  'client-sdk/docs/react.md': {
    'npm install @tanstack/react-query': 'it needs a registry; sdk/pages.test.ts has the package',
  },
  'client-sdk/examples/README.md': { 'npm ci': installs },
  'bench/README.md': {
    'npm run bench                                                  # everything, about a quarter of an hour':
      takesLong,
    'npm run bench -- --only list-comments --sides floor,rest --parts table': takesLong,
    'npm run bench -- --short --check                               # what CI runs': takesLong,
    'npm run bench:chat': takesLong,
    'npm run bench:chat -- --sockets 3000 --streams 0 --writes 30': takesLong,
    'npm run bench:chat -- --sockets 1000 --stalled 200 --streams 0 --others 18500': takesLong,
  },
};

export type Tour = {
  /** The commands of the next block under a heading that was not taken yet, without those that are not run. */
  take(page: string, heading: string): string;
  /** The same of all blocks that are left of a page, or of one heading of it. */
  takeAll(page: string, heading?: string): string[];
  /** What nobody took: page and heading of each block. */
  left(): string[];
};

/** The blocks of commands on the pages that a test file has to run. */
export async function openTour(file: string): Promise<Tour> {
  const blocks: { page: string; heading: string; text: string }[] = [];
  for (const page of runBy[file]!) {
    const lines = notRun[page] ?? {};
    for (const { heading, language, text } of await blocksOf(page)) {
      if (!shells.includes(language)) continue;
      const run = text.split('\n').filter((line) => !(line in lines));
      if (run.some((line) => line !== '')) blocks.push({ page, heading, text: run.join('\n') });
    }
  }
  const takeAll = (page: string, heading?: string, count = Infinity): string[] => {
    const wanted = blocks.filter((one) => one.page === page && (heading ?? one.heading) === one.heading);
    return wanted.slice(0, count).map((block) => {
      blocks.splice(blocks.indexOf(block), 1);
      return block.text;
    });
  };
  return {
    take(page, heading) {
      const [text] = takeAll(page, heading, 1);
      if (text === undefined) throw new Error(`no commands are left on ${page} under ${heading}`);
      return text;
    },
    takeAll: (page, heading) => takeAll(page, heading),
    left: () => blocks.map(({ page, heading }) => `${page}: ${heading}`),
  };
}

/** What a block of commands may be written in; of a console's, examples/readme.slow.test.ts runs each line behind a `$`. */
export const shells = ['sh', 'bash', 'shell'];
