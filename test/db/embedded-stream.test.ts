import { openAsBlob } from 'node:fs';
import { sql } from 'kysely';
import pg from 'pg';
import { afterAll, expect, inject, onTestFinished, test, vi } from 'vitest';
import { EmbeddedStream } from '../../db/embedded-stream.ts';
import { openPGlite, wrapEmbedded } from '../../db/open-embedded.ts';
import { makeEmbeddedTemplate } from '../support/embedded-template.ts';

const template = inject('template');
const { emptyDumpFile } = template.kind === 'embedded' ? template : await makeEmbeddedTemplate();
const pglite = await openPGlite(undefined, await openAsBlob(emptyDumpFile));
afterAll(() => pglite.close());

async function openClient(options: pg.ClientConfig = {}): Promise<pg.Client> {
  const stream = () => new EmbeddedStream(pglite);
  const client = new pg.Client({ stream, user: 'postgres', ssl: false, ...options });
  await client.connect();
  return client;
}

test('a client finds nothing of the one before: no transaction, statement or setting', async () => {
  const first = await openClient();
  await first.query({ name: 'same', text: 'select 1 as one' });
  await first.query("set timezone = 'Asia/Tokyo'");
  await first.query('begin');
  await first.query('create table left_over (id int)');
  await first.end();

  const second = await openClient();
  expect((await second.query({ name: 'same', text: 'select 2 as two' })).rows).toEqual([{ two: 2 }]);
  expect((await second.query('show timezone')).rows).toEqual([{ TimeZone: 'UTC' }]);
  expect((await second.query("select to_regclass('left_over') as name")).rows).toEqual([{ name: null }]);
  await second.end();
});

test('statements of one tick have answers of their own, a failed one in their midst too', async () => {
  const client = await openClient({ pipeline: true });
  const answers = await Promise.allSettled(
    [1, 0, 2].map((by) => client.query({ name: 'divide', text: 'select 6 / $1::int as part', values: [by] })),
  );
  expect(answers).toMatchObject([
    { value: { rows: [{ part: 6 }] } },
    { reason: { code: '22012' } },
    { value: { rows: [{ part: 3 }] } },
  ]);
  await client.end();
});

test('what is longer than its buffer passes in both directions', async () => {
  const client = await openClient();
  const long = 'é'.repeat(5_000_000);
  const { rows } = await client.query<{ same: string }>('select $1::text as same', [long]);
  expect(rows[0]!.same === long).toBe(true);
  await client.end();
});

test('the environment that programs of PostgreSQL read changes nothing', async () => {
  const environment = { PGSSLMODE: 'require', PGHOST: 'nowhere.invalid', PGUSER: 'nobody', PGDATABASE: 'none' };
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  onTestFinished(() => void vi.unstubAllEnvs());
  const database = wrapEmbedded(pglite);
  expect((await sql`select 1 as one`.execute(database.owner.db)).rows).toEqual([{ one: 1 }]);
  await database.close();
});
