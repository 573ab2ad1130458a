import { sql } from 'kysely';
import { Migrator } from 'kysely/migration';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { installDerived } from '../../db/derived/index.ts';
import { migrate } from '../../db/migrate.ts';
import { migrations } from '../../db/migrations/index.ts';
import type { Database, Db } from '../../db/open.ts';
import { secureTables } from '../../db/row-security.ts';
import { openEmpty } from '../support/database.ts';
import { blocksOf } from '../support/pages.ts';
import { latestMigration, planStatements, prepareStatement, readBundle, readDerived, type Bundle } from './bundle.ts';
import { compareCatalogues, readCatalogue, type Catalogue } from './catalogue.ts';

/*
 * Nodes of the last release serve while the newest migrations run, and until the last of them is replaced: released.json has
 * what they send. CONTRIBUTING says how to change the schema so that this holds.
 */

const addsMoney = 'adds what it writes to columns and tables that released statements do not name';

/**
 * Differences that released statements do not mind, by their beginnings, each with the reason. They are of one release: the list
 * is emptied when released.json is written again.
 */
const accepted: Record<string, string> = {
  'company_mornings: company_mornings_step_check is another check':
    'allows one more step; a node that does not know it fails its job, which another node repeats',
  'projects: project_budget_reaches_share is another trigger': 'fires for budgets alone',
  'projects: project_reaches_share_of_hours is another trigger': 'appends a job, which waits for a node that knows it',
  'task_logs: rate_task_log is another trigger': addsMoney,
  'task_logs: total_project_amounts_on_delete is another trigger': addsMoney,
  'task_logs: total_project_amounts_on_insert is another trigger': addsMoney,
  'task_logs: total_project_amounts_on_update is another trigger': addsMoney,
};
const isAccepted = (found: string): boolean => Object.keys(accepted).some((one) => found.startsWith(`${one}:`));

let database: Database | undefined;
let remove: () => Promise<void>;
let db: Db;
let bundle: Bundle;
let released: Catalogue;

beforeAll(async () => {
  bundle = await readBundle();
  ({
    databases: [database],
    remove,
  } = await openEmpty(1, { connectionsMax: 1, readConnections: 0 }));
  db = database!.owner.db;
  const migrator = new Migrator({ db, provider: { getMigrations: async () => migrations } });
  const { error } = await migrator.migrateTo(bundle.migration);
  if (error !== undefined) throw error;
  await installDerived(db, Object.keys(bundle.derived));
  await secureTables(db);
  released = await readCatalogue(db);
  for (const [index, text] of bundle.statements.entries()) await prepareStatement(db, text, index);
  await migrate(db);
  await secureTables(db);
});
afterAll(() => remove());

/** What breaks released nodes after a further migration, which is rolled back. */
const listBreaks = async (migration: readonly string[] = []): Promise<string[]> =>
  (await listDifferences(migration)).filter((found) => !isAccepted(found));

async function listDifferences(migration: readonly string[] = []): Promise<string[]> {
  await sql`begin`.execute(db);
  try {
    for (const statement of migration) await sql.raw(statement).execute(db);
    const failed = await planStatements(db, bundle.statements);
    return [
      ...failed.map(({ text, error }) => `${error}: ${text}`),
      ...compareCatalogues(released, await readCatalogue(db)),
    ];
  } finally {
    await sql`rollback`.execute(db);
  }
}

test('the newest schema serves every statement of the last release', async () => {
  expect(bundle.statements.length).toBeGreaterThan(250);
  expect(await listBreaks()).toEqual([]);
  expect((await listDifferences()).filter(isAccepted)).toHaveLength(Object.keys(accepted).length);
});

test('definitions of derived data change with a migration: nodes of before would install theirs again at a start', async () => {
  const installed = await readDerived(db);
  const changed = Object.keys(installed).filter((name) => installed[name] !== bundle.derived[name]);
  expect(latestMigration > bundle.migration ? [] : changed).toEqual([]);
});

test.each([
  ['a table that is renamed', 'alter table comment_likes rename to likes', 'relation "comment_likes" does not exist'],
  ['a column that is renamed', 'alter table tasks rename title to name', /column .*title.* does not exist/],
  ['a column that is removed', 'alter table timers drop column description', /column .*description.* does not exist/],
  [
    'a constraint that an ON CONFLICT needs',
    'alter table comment_likes drop constraint comment_likes_pkey',
    'there is no unique or exclusion constraint matching the ON CONFLICT specification',
  ],
  [
    'a type that is another',
    'alter table tasks alter column title type varchar(80)',
    /^tasks\.title was text, and is character varying\(80\)$/,
  ],
  ['a right that is missing', 'revoke insert on tasks from wms_company', 'permission denied for table tasks'],
  [
    'a function that is gone',
    'alter function local_day(timestamptz, text) rename to day_of',
    /function local_day\(.*\) does not exist/,
  ],
  [
    'a column that must have a value',
    'alter table tasks add column label text not null',
    'tasks.label must have a value, and has no default',
  ],
  [
    'a column that may no longer be empty',
    'alter table tasks alter column description set not null',
    'tasks.description must have a value, and has no default',
  ],
  [
    'a default that is gone',
    'alter table tasks alter column status drop default',
    'tasks.status must have a value, and has no default',
  ],
  ['a check', 'alter table tasks add constraint short check (length(title) < 80)', /^tasks: short is another check/],
  [
    'a unique index',
    'create unique index one_title on tasks (company_id, title)',
    /^tasks: one_title is another unique/,
  ],
  [
    'a reference',
    'alter table task_logs add constraint of_day foreign key (company_id, employee_id) references work_totals',
    /^task_logs: of_day is another reference/,
  ],
  [
    'a trigger',
    'create trigger odd before insert on tasks for each row execute function suppress_redundant_updates_trigger()',
    /^tasks: odd is another trigger/,
  ],
])('%s breaks the last release', async (_, migration, reason) => {
  expect(await listBreaks([migration])).toContainEqual(expect.stringMatching(reason));
});

test('a statement that returns every column breaks where one is added', async () => {
  await prepareStatement(db, 'select * from timers where company_id = $1', bundle.statements.length);
  const all = [...bundle.statements, 'select * from timers where company_id = $1'];
  await sql`begin`.execute(db);
  await sql`alter table timers add column label text`.execute(db);
  const failed = await planStatements(db, all);
  await sql`rollback`.execute(db);
  expect(failed).toEqual([{ text: all.at(-1), error: 'cached plan must not change result type' }]);
});

test('additions that released statements do not meet break nothing', async () => {
  expect(
    await listBreaks([
      'create table labels (company_id bigint, label_id bigint generated always as identity, name text not null, primary key (company_id, label_id))',
      'alter table tasks add column label_id bigint, add column is_pinned boolean not null default false',
      'alter table tasks add constraint has_label foreign key (company_id, label_id) references labels',
      'alter table tasks add constraint positive check (label_id > 0)',
      'create unique index one_label on tasks (company_id, label_id)',
      'create index pinned on tasks (company_id) where is_pinned',
      'alter table tasks alter column description type text, alter column estimated_hours drop not null',
    ]),
  ).toEqual([]);
});

test('a column is renamed in two releases as CONTRIBUTING shows', async () => {
  const block = (await blocksOf('CONTRIBUTING.md')).find(({ language }) => language === 'sql');
  const [expansion, contraction] = block!.text.split(/^-- .*$/m).slice(1);
  // The trigger is the one difference that its author answers for.
  expect(await listBreaks([expansion!])).toEqual([expect.stringMatching(/^tasks: keep_task_name is another trigger/)]);
  expect(await listBreaks([expansion!, contraction!])).toContainEqual(
    expect.stringMatching(/column .*title.* does not exist/),
  );

  await sql`begin`.execute(db);
  await sql`
    with c as (
      insert into companies (name, timezone, created_at, updated_at) values ('Engines', 'UTC', now(), now()) returning company_id
    ), e as (
      insert into employees (company_id, email, first_name, last_name, search_text, created_at, updated_at)
      select company_id, 'ada@example.com', 'Ada', 'L', ' ada l', now(), now() from c returning company_id, employee_id
    )
    insert into projects (company_id, name, owner_id, created_at, updated_at)
    select company_id, 'P', employee_id, now(), now() from e`.execute(db);
  const insertTask = (column: string, text: string) =>
    sql`
      insert into tasks (company_id, project_id, ${sql.ref(column)}, owner_id, created_at, updated_at)
      select company_id, project_id, ${text}::text, owner_id, now(), now() from projects`.execute(db);
  await insertTask('title', 'Of before');
  await sql.raw(expansion!).execute(db);
  await insertTask('title', 'Of the old code');
  await insertTask('name', 'Of the new code');
  await sql`update tasks set title = title || '.' where name <> 'Of the new code'`.execute(db);
  await sql`update tasks set name = name || '.' where name = 'Of the new code'`.execute(db);
  const { rows: both } = await sql`select title, name from tasks order by task_id`.execute(db);
  await sql.raw(contraction!).execute(db);
  const { rows: one } = await sql`select name from tasks order by task_id`.execute(db);
  await sql`rollback`.execute(db);
  const names = ['Of before.', 'Of the old code.', 'Of the new code.'];
  expect(both).toEqual(names.map((name) => ({ title: name, name })));
  expect(one).toEqual(names.map((name) => ({ name })));
});
