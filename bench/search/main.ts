import { parseArgs } from 'node:util';
import pg from 'pg';
import { migrate } from '../../db/migrate.ts';
import { openServer } from '../../db/open.ts';
import { secureTables } from '../../db/row-security.ts';
import { onNewDatabase, registerCompany, send, startSide, type Side } from '../support/side.ts';
import { reportProgress, timed } from '../support/timing.ts';
import { makeWorld, vocabulary } from './world.ts';

/*
 * How long a search takes in a company of ten thousand documents and in one of a million, over HTTP and with row-level security,
 * one request at a time; both companies take turns. Then what the index costs a new task and a new comment.
 *
 *   npm run bench:search -- --sizes 10000,1000000
 *
 * It needs a PostgreSQL server, at BENCH_DATABASE_URL or 127.0.0.1:5432, on which it may create a database; that is dropped at
 * the end. A million documents take some 2 GB and ten minutes.
 */
const { values: options } = parseArgs({
  options: { sizes: { type: 'string', default: '10000,1000000' }, rounds: { type: 'string', default: '40' } },
});
const sizes = options.sizes.split(',').map(Number);
const rounds = Number(options.rounds);
const name = `wms_bench_search_${process.pid}`;

type Company = Awaited<ReturnType<typeof registerCompany>> & { documents: number };

const anyOf = <Item>(items: readonly Item[]): Item => items[Math.floor(Math.random() * items.length)]!;
/** A word by how frequent it is. */
const wordFrom = (from: number, to: number): string => anyOf(vocabulary.slice(from, to));
const japanese = (length: number): string =>
  Array.from({ length }, () => String.fromCodePoint(0x4e00 + Math.floor(Math.random() ** 3 * 300))).join('');
function withSlip(word: string): string {
  const at = 1 + Math.floor(Math.random() * (word.length - 2));
  return word.slice(0, at) + word[at + 1]! + word[at]! + word.slice(at + 2);
}
const longWord = (from: number, to: number): string =>
  anyOf(vocabulary.slice(from, to).filter((word) => word.length >= 6));

/** What is searched for; each search is for another word of its kind. */
const searches: Record<string, () => string> = {
  'the most frequent words': () => wordFrom(0, 20),
  'frequent words': () => wordFrom(20, 200),
  'words of the middle': () => wordFrom(500, 5_000),
  'rare words': () => wordFrom(20_000, 50_000),
  'two frequent words': () => `${wordFrom(0, 20)} ${wordFrom(20, 200)}`,
  'a frequent and a rare word': () => `${wordFrom(0, 20)} ${wordFrom(20_000, 50_000)}`,
  'beginnings of two letters': () => wordFrom(0, 5_000).slice(0, 2),
  'beginnings of three letters': () => wordFrom(20, 5_000).slice(0, 3),
  'beginnings of five letters': () => longWord(20, 5_000).slice(0, 5),
  'slips in frequent words': () => withSlip(longWord(20, 2_000)),
  'slips in rare words': () => withSlip(longWord(20_000, 50_000)),
  'two Chinese characters': () => japanese(2),
  'one Chinese character': () => japanese(1),
  'what is nowhere': () => `${wordFrom(20, 200)}xyzzy`,
};

/** What lists of tasks are narrowed to by `q`: a part of the title. */
const parts: Record<string, () => string> = {
  'a part of frequent titles': () => wordFrom(0, 200).padEnd(3, ' '),
  'a part of some titles': () => longWord(500, 5_000).slice(1),
  'a part of rare titles': () => longWord(20_000, 50_000),
  'two letters': () => wordFrom(0, 5_000).slice(0, 2),
  'two rare signs': () => japanese(2),
  'a part of no title': () => `${wordFrom(20, 200)}xyzzy`,
};

type Times = { median: number; p95: number };
const timesOf = (all: number[]): Times => {
  const sorted = all.toSorted((a, b) => a - b);
  return { median: sorted[Math.floor(sorted.length / 2)]!, p95: sorted[Math.floor(sorted.length * 0.95)]! };
};

type PathOf = (companyId: number, q: string) => string;
const searchPath: PathOf = (companyId, q) => `/api/search/company/${companyId}/?q=${encodeURIComponent(q)}`;
const listPath: PathOf = (companyId, q) => `/api/tasks/company/${companyId}/?q=${encodeURIComponent(q)}`;

async function measureReads(
  { url }: Side,
  companies: Company[],
  { words, pathOf }: { words: Record<string, () => string>; pathOf: PathOf },
): Promise<void> {
  const titles = companies.map(({ documents }) => `${documents.toLocaleString('en')} documents`.padStart(24));
  console.log(`\n${'median and 95th percentile, ms'.padEnd(32)}${titles.join('')}   ratio of medians`);
  const all = companies.map((): number[] => []);
  for (const [what, wordOf] of Object.entries(words)) {
    const times = companies.map((): number[] => []);
    for (let round = -10; round < rounds; round += 1)
      for (const [index, { companyId, headers }] of companies.entries()) {
        const path = pathOf(companyId, wordOf());
        const time = await timed(() => send(url, { method: 'GET', path, headers }));
        if (round >= 0) times[index]!.push(time);
      }
    for (const [index, some] of times.entries()) all[index]!.push(...some);
    printRow(what, times);
  }
  printRow('all of them', all);
}

function printRow(what: string, times: number[][]): void {
  const found = times.map(timesOf);
  const shown = found.map(({ median, p95 }) => `${median.toFixed(1)}, ${p95.toFixed(1)}`.padStart(24));
  console.log(`${what.padEnd(32)}${shown.join('')}   ×${(found.at(-1)!.median / found[0]!.median).toFixed(2)}`);
}

const text = (words: number): string => Array.from({ length: words }, () => wordFrom(0, 5_000)).join(' ');

async function measureWrites({ url }: Side, client: pg.Client, company: Company): Promise<void> {
  const { companyId, employeeId, headers } = company;
  const { rows } = await client.query<{ task_id: string; project_id: string }>(
    'select task_id, project_id from tasks where company_id = $1 limit 1',
    [companyId],
  );
  const task = { taskId: Number(rows[0]!.task_id), projectId: Number(rows[0]!.project_id) };
  const post = (path: string, body: unknown) => timed(() => send(url, { method: 'POST', path, headers, body }));
  const writes = {
    'a new task': () => post('/api/tasks/', { projectId: task.projectId, title: text(5), description: text(25) }),
    'a new comment': () => post('/api/task-chats/', { taskId: task.taskId, sender: employeeId, message: text(12) }),
  };
  const { rows: indexes } = await client.query<{ name: string; definition: string }>(
    `select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition from pg_index
    where indexrelid::regclass::text in ('tasks_by_terms', 'comments_by_terms')`,
  );
  const measure = async () => {
    const times: Record<string, number[]> = { 'a new task': [], 'a new comment': [] };
    for (let round = -20; round < 3 * rounds; round += 1)
      for (const [what, write] of Object.entries(writes)) {
        const time = await write();
        if (round >= 0) times[what]!.push(time);
      }
    return times;
  };
  const withIndex = await measure();
  for (const { name: index } of indexes) await client.query(`drop index ${index}`);
  const without = await measure();
  console.log(
    `\n${'median and 95th percentile, ms'.padEnd(32)}${'without the index'.padStart(24)}${'with it'.padStart(24)}`,
  );
  for (const what of Object.keys(writes)) printRow(what, [without[what]!, withIndex[what]!]);
}

async function printSizes(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ name: string; size: string; of: string }>(
    `select indexrelid::regclass::text as name, pg_size_pretty(pg_relation_size(indexrelid)) as size,
      pg_size_pretty(pg_relation_size(indrelid)) as of
    from pg_index where indexrelid::regclass::text like '%\\_by\\_terms'`,
  );
  for (const row of rows) console.log(`${row.name}: ${row.size}, of a table of ${row.of}`);
}

await onNewDatabase(name, async (databaseUrl) => {
  const database = openServer(databaseUrl, { rowSecurity: true });
  await migrate(database.owner.db);
  await secureTables(database.owner.db);
  const side = await startSide(database);
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const companies: Company[] = [];
    for (const documents of sizes) companies.push({ ...(await registerCompany(side, `with-${documents}`)), documents });
    await makeWorld(client, companies, reportProgress);
    reportProgress('searches');
    await printSizes(client);
    await measureReads(side, companies, { words: searches, pathOf: searchPath });
    await measureReads(side, companies, { words: parts, pathOf: listPath });
    await measureWrites(side, client, companies.at(-1)!);
  } finally {
    await client.end();
    await side.close();
  }
});
