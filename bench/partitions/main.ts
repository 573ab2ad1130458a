import { parseArgs } from 'node:util';
import pg from 'pg';
import { migrate } from '../../db/migrate.ts';
import { openServer } from '../../db/open.ts';
import { onNewDatabase } from '../support/side.ts';
import { median, reportProgress, timed } from '../support/timing.ts';

/*
 * What it brings to divide a large table by a hash of the company: the table of who has seen which comment, which has the most rows
 * (docs/capacity.md), whole and in parts, filled with the same rows and measured in turns. Companies of ten thousand rows write
 * one after the other, so that the rows of one are everywhere. Neither has the foreign keys of the real table.
 *
 *   npm run bench:partitions -- --rows 100000000 --parts 32
 *
 * It needs a PostgreSQL server, at BENCH_DATABASE_URL or 127.0.0.1:5432, on which it may create a database; that is dropped at
 * the end. A hundred million rows take 25 GB and seven minutes. The tables are unlogged, so neither side waits for the disk at a commit.
 */
const { values: options } = parseArgs({
  options: {
    rows: { type: 'string', default: '10000000' },
    parts: { type: 'string', default: '32' },
    rounds: { type: 'string', default: '2000' },
  },
});
const rows = Number(options.rows);
const parts = Number(options.parts);
const rounds = Number(options.rounds);
const rowsPerCompany = 10_000;
const companies = Math.max(1, Math.floor(rows / rowsPerCompany));
const viewsPerComment = 4;
const chunk = 5_000_000;

type Side = { table: 'whole' | 'divided'; client: pg.Client };
/** Figures of both sides, by what was measured. */
const figures: { what: string; whole: number; divided: number; unit: string }[] = [];

async function createTables(client: pg.Client): Promise<void> {
  await client.query('create unlogged table whole (like comment_views including all)');
  await client.query('create table divided (like comment_views including all) partition by hash (company_id)');
  for (let part = 0; part < parts; part += 1)
    await client.query(
      `create unlogged table divided_${part} partition of divided for values with (modulus ${parts}, remainder ${part})`,
    );
  for (const table of ['whole', 'divided']) await client.query(`alter table ${table} drop constraint ${table}_pkey`);
}

/** Each comment has four views, one after the other, and the companies take turns. */
async function fill({ table, client }: Side): Promise<void> {
  for (let from = 0; from < rows; from += chunk) {
    await client.query(
      `insert into ${table} (company_id, comment_id, employee_id, seen_at)
      select 1 + n / $3 % $4, 1 + n / ($3 * $4), 1 + n % $3, '2026-01-01T00:00:00Z'::timestamptz + n * interval '1 millisecond'
      from generate_series($1::bigint, $2::bigint) as n`,
      [from, Math.min(from + chunk, rows) - 1, viewsPerComment, companies],
    );
    reportProgress(`${table}: ${Math.min(from + chunk, rows).toLocaleString('en')} rows`);
  }
}

const anyCompany = (): number => 1 + Math.floor(Math.random() * companies);
const comments = Math.floor(rows / companies / viewsPerComment);

/** Who has seen each of fifty comments, as the list of a task's comments asks. */
function read({ table, client }: Side, companyId: number): Promise<unknown> {
  const first = 1 + Math.floor(Math.random() * Math.max(1, comments - 50));
  return client.query({
    name: `read-${table}`,
    text: `select comment_id, employee_id, seen_at from ${table} where company_id = $1 and comment_id = any($2)`,
    values: [companyId, Array.from({ length: 50 }, (_, index) => first + index)],
  });
}

let writer = 1_000_000;

function write({ table, client }: Side, companyId: number): Promise<unknown> {
  return client.query({
    name: `write-${table}`,
    text: `insert into ${table} (company_id, comment_id, employee_id, seen_at) values ($1, $2, $3, now()) on conflict do nothing`,
    values: [companyId, 1 + Math.floor(Math.random() * comments), (writer += 1)],
  });
}

/** The median of calls that the sides take in turns, in milliseconds. */
async function compare(what: string, sides: Side[], call: (side: Side) => Promise<unknown>): Promise<void> {
  const times = { whole: [] as number[], divided: [] as number[] };
  for (let round = -20; round < rounds; round += 1)
    for (const side of sides) {
      const time = await timed(() => call(side));
      if (round >= 0) times[side.table].push(time);
    }
  note(what, { whole: median(times.whole), divided: median(times.divided), unit: 'ms' });
}

function note(what: string, measured: { whole: number; divided: number; unit: string }): void {
  figures.push({ what, ...measured });
  reportProgress(`${what}: ${measured.whole.toFixed(3)} and ${measured.divided.toFixed(3)} ${measured.unit}`);
}

/** One after the other: both want the whole disk. */
async function compareOnce(what: string, sides: Side[], call: (side: Side) => Promise<unknown>): Promise<void> {
  const seconds = { whole: 0, divided: 0 };
  for (const side of sides) seconds[side.table] = (await timed(() => call(side))) / 1_000;
  note(what, { ...seconds, unit: 's' });
}

await onNewDatabase(`wms_bench_partitions_${process.pid}`, async (databaseUrl) => {
  const database = openServer(databaseUrl);
  await migrate(database.owner.db);
  await database.close();
  const clients = [new pg.Client({ connectionString: databaseUrl }), new pg.Client({ connectionString: databaseUrl })];
  await Promise.all(clients.map((client) => client.connect()));
  const sides: Side[] = [
    { table: 'whole', client: clients[0]! },
    { table: 'divided', client: clients[1]! },
  ];
  try {
    await createTables(clients[0]!);
    reportProgress(`${rows.toLocaleString('en')} rows of ${companies.toLocaleString('en')} companies, ${parts} parts`);
    await Promise.all(sides.map(fill));
    const key = 'primary key (company_id, comment_id, employee_id)';
    for (const { client } of sides) await client.query("set maintenance_work_mem = '1GB'");
    await compareOnce('the primary key is built', sides, ({ table, client }) =>
      client.query(`alter table ${table} add ${key}`),
    );
    await compareOnce('vacuum (analyze) of what is new', sides, ({ table, client }) =>
      client.query(`vacuum (analyze) ${table}`),
    );
    // A company that is read again and again is in memory: what is left is the way to its part.
    const busy = anyCompany();
    await compare('read of a busy company', sides, (side) => read(side, busy));
    await compare('read of any company', sides, (side) => read(side, anyCompany()));
    await compare('write', sides, (side) => write(side, anyCompany()));
    await compareOnce('one company in a hundred is deleted', sides, ({ table, client }) =>
      client.query(`delete from ${table} where company_id % 100 = 1`),
    );
    await compareOnce('vacuum after that', sides, ({ table, client }) => client.query(`vacuum ${table}`));
    await compareOnce('an index is built: the whole, and one part', sides, ({ table, client }) =>
      client.query(`create index on ${table === 'whole' ? table : 'divided_0'} (company_id, seen_at)`),
    );
    await compareOnce('vacuum: the whole, and one part', sides, ({ table, client }) =>
      client.query(`vacuum (disable_page_skipping) ${table === 'whole' ? table : 'divided_0'}`),
    );
  } finally {
    await Promise.all(clients.map((client) => client.end()));
  }
});

console.log(`\n${''.padEnd(46)}${'whole'.padStart(12)}${'divided'.padStart(12)}   divided to whole`);
for (const { what, whole, divided, unit } of figures) {
  const shown = [whole, divided].map((figure) => `${figure.toFixed(unit === 's' ? 1 : 3)} ${unit}`.padStart(12));
  console.log(`${what.padEnd(46)}${shown.join('')}   ${(divided / whole).toFixed(2)}`);
}
