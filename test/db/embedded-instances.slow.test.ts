import { openAsBlob } from 'node:fs';
import { sql } from 'kysely';
import { afterAll, describe, expect, test } from 'vitest';
import { openPGlite } from '../../db/open-embedded.ts';
import { type Database, type Db } from '../../db/open.ts';
import { readCatalogs, readRelations } from '../support/catalogs.ts';
import { createEmbeddedInstances } from '../support/embedded-instances.ts';
import { readTemplateState, resetEmbedded } from '../support/embedded-reset.ts';
import { makeEmbeddedTemplate } from '../support/embedded-template.ts';

/* What the tests of one file leave in the embedded database must not reach those of the next. */

const { dumpFile } = await makeEmbeddedTemplate();
const instances = createEmbeddedInstances();
const take = () => instances.take(dumpFile);
afterAll(() => instances.closeIdle());

const run = async (db: Db, statement: string): Promise<void> => void (await sql.raw(statement).execute(db));

async function valueOf(db: Db, expression: string): Promise<unknown> {
  const { rows } = await sql<{ value: unknown }>`select ${sql.raw(expression)} as value`.execute(db);
  return rows[0]!.value;
}

/** Counts the transactions of an instance, which a new one has not had. */
const age = async (database: Database): Promise<number> =>
  Number(await valueOf(database.owner.db, 'pg_current_xact_id()::text'));

/** What the tests of a file could see of those before. */
async function look(database: Database): Promise<unknown> {
  const { db } = database.owner;
  const tables = await sql<{ name: string }>`
    select table_name as name from information_schema.tables where table_schema = 'public' order by 1`.execute(db);
  const rows: Record<string, unknown> = {};
  for (const { name } of tables.rows)
    rows[name] = await valueOf(db, `(select json_agg(t order by t::text) from "${name}" as t)`);
  return {
    rows,
    sequences: await valueOf(db, '(select json_agg(s order by sequencename) from pg_sequences as s)'),
    sizes: await valueOf(
      db,
      '(select json_agg(json_build_array(oid, relpages, reltuples) order by oid) from pg_class)',
    ),
    triggers: await valueOf(
      db,
      '(select json_agg(json_build_array(oid, tgname, tgenabled) order by oid) from pg_trigger)',
    ),
    settings: await valueOf(
      db,
      "(select json_agg(json_build_array(name, setting) order by name) from pg_settings where source <> 'default')",
    ),
    prepared: await valueOf(db, '(select count(*)::int from pg_prepared_statements)'),
    statistics: await valueOf(db, '(select count(*)::int from pg_statistic)'),
  };
}

/** What a database looks like after another whose tests ran `statements`, and whether it has the same instance. */
async function lookAfter(statements: string[]): Promise<{ seen: unknown; isSameInstance: boolean }> {
  const first = await take();
  for (const statement of statements) await run(first.owner.db, statement);
  const before = await age(first);
  await first.close();
  const second = await take();
  const isSameInstance = (await age(second)) > before;
  const seen = await look(second);
  await second.close();
  return { seen, isSameInstance };
}

const unused = await take();
const asNew = await look(unused);
await unused.close();

const account = "insert into accounts (email, created_at, updated_at) values ('ada@example.com', now(), now())";
const accounts = account.replace(
  /values .*/,
  "select n || '@example.com', now(), now() from generate_series(1, 2000) n",
);
const company =
  "insert into companies (name, timezone, created_at, updated_at) values ('Engines', 'UTC', now(), now())";

test.each([
  ['rows, and their number', [account, company]],
  ['the size of many rows', [accounts, 'delete from accounts']],
  ['rows of the template that were changed', ['update plans set max_employees = 1', 'delete from sweep_rounds']],
  ['rows of the template that were removed', ['truncate plans cascade', 'delete from morning_rounds']],
  [
    'rows that nobody may remove',
    [
      "insert into audit_log (company_id, xid, transport, operation, changes, result) values (1, 1, 'rest', 'x', '{}', 'ok')",
    ],
  ],
  ['sequences', ['begin', account, company, 'rollback', "select nextval('plans_plan_id_seq')"]],
  ['an open transaction', ['begin', account]],
  [
    'settings of the session',
    ["set timezone = 'Asia/Kathmandu'", 'set search_path = pg_catalog', 'set role wms_company'],
  ],
  ['a prepared statement', ['prepare one as select 1']],
])('a database shows nothing of the one before: %s', async (_what, statements) => {
  const { seen, isSameInstance } = await lookAfter(statements);
  expect(seen).toEqual(asNew);
  expect(isSameInstance).toBe(true);
});

test('an instance whose schema was changed is thrown away', async () => {
  const { seen, isSameInstance } = await lookAfter(['alter table comments disable trigger user']);
  expect(seen).toEqual(asNew);
  expect(isSameInstance).toBe(false);
});

describe('a change that a reset does not undo is noticed:', async () => {
  const pglite = await openPGlite(undefined, await openAsBlob(dumpFile));
  afterAll(() => pglite.close());
  const template = await readTemplateState(pglite);
  const isAsBefore = async () =>
    (await readCatalogs(pglite, template.transactionId)) === template.catalogs &&
    (await readRelations(pglite)) === template.relations;

  test.each([
    ['a table', 'create table surprises ()'],
    ['a temporary table', 'create temp table jobs ()'],
    ['a column', 'alter table accounts add column surprise text'],
    ['a trigger that is off', 'alter table comments disable trigger user'],
    ['a constraint', 'alter table plans add check (rank > 0)'],
    ['a policy', 'create policy surprise on companies using (true)'],
    ['row security', 'alter table companies disable row level security'],
    ['an index', 'drop index employees_by_account'],
    ['a function', 'create function surprise() returns int language sql as $$ select 1 $$'],
    ['a privilege', 'revoke all on companies from wms_company'],
    ['a role', 'create role surprise'],
    ['a setting', "alter database postgres set work_mem = '1MB'"],
    ['statistics', `${account}; analyze accounts`],
  ])('%s', async (_what, statement) => {
    await pglite.exec('begin');
    await pglite.exec(statement);
    expect(await isAsBefore()).toBe(false);
    expect(await resetEmbedded(pglite, template)).toBe(true);
  });
});

test('databases that are open at once have each an instance of their own', async () => {
  const databases = [await take(), await take()];
  await run(databases[0]!.owner.db, account);
  expect(await valueOf(databases[1]!.owner.db, '(select count(*)::int from accounts)')).toBe(0);
  await Promise.all(databases.map((database) => database.close()));
});

test('a database that is closed twice frees its instance once', async () => {
  const database = await take();
  await Promise.allSettled([database.close(), database.close()]);
  const next = [await take(), await take()];
  await run(next[0]!.owner.db, account);
  expect(await valueOf(next[1]!.owner.db, '(select count(*)::int from accounts)')).toBe(0);
  await Promise.all(next.map((one) => one.close()));
});
