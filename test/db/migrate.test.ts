import { sql, type Kysely } from 'kysely';
import { Migrator } from 'kysely/migration';
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import { migrate, MigrationFailed, pendingMigrations, readState } from '../../db/migrate.ts';
import { migrations } from '../../db/migrations/index.ts';
import type { Database, Db } from '../../db/open.ts';
import { verifyCounts } from '../../db/derived/verify-counts.ts';
import { verifyTotals } from '../../db/derived/verify-work-time.ts';
import { openClone, openEmpty as makeEmpty } from '../support/database.ts';
import { countMinutes, storedMinutes, listLogs } from '../support/local-days.ts';
import { waitForLockWaits } from '../support/lock-waits.ts';
import { waitUntil } from '../support/waiting.ts';

const names = Object.keys(migrations);
const template = inject('template');

async function openEmpty(handles = 1): Promise<Database[]> {
  const { databases, remove } = await makeEmpty(handles);
  onTestFinished(remove);
  return databases;
}

/** As the owner of the tables has it. */
async function openMigrated(): Promise<Db> {
  const database = await openClone();
  onTestFinished(() => database.close());
  return database.owner.db;
}

async function tablesOf(db: Db): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select table_name as name from information_schema.tables
    where table_schema = 'public' and table_name not like 'kysely%' order by 1`.execute(db);
  return rows.map((row) => row.name);
}

test('a new database takes every step, once', async () => {
  const [database] = await openEmpty();
  expect(await migrate(database!.db)).toEqual(names);
  expect(await pendingMigrations(database!.db)).toEqual([]);
  const tables = await tablesOf(database!.db);
  expect(await migrate(database!.db)).toEqual([]);
  expect(await tablesOf(database!.db)).toEqual(tables);
});

async function writeAccount(db: Db): Promise<void> {
  await sql`insert into accounts (email, created_at, updated_at) values ('kept@example.com', now(), now())`.execute(db);
}

async function writeLogs(db: Db): Promise<void> {
  await sql`
    with c as (
      insert into companies (name, timezone, created_at, updated_at)
      values ('Engines', 'Atlantic/Azores', now(), now()), ('Looms', 'Asia/Kathmandu', now(), now()) returning company_id
    ), a as (
      insert into accounts (email, created_at, updated_at) values ('ada@example.com', now(), now()) returning account_id
    ), e as (
      insert into employees (company_id, account_id, email, first_name, last_name, search_text, created_at, updated_at)
      select company_id, account_id, 'ada@example.com', 'Ada', 'L', ' ada l', now(), now() from c, a
      returning company_id, employee_id
    ), p as (
      insert into projects (company_id, name, owner_id, logged_seconds, created_at, updated_at)
      select company_id, 'P', employee_id, 40 * 7200, now(), now() from e returning company_id, project_id, owner_id
    ), t as (
      insert into tasks (company_id, project_id, title, owner_id, created_at, updated_at)
      select company_id, project_id, 'T', owner_id, now(), now() from p returning company_id, task_id, project_id, owner_id
    )
    insert into task_logs (
      company_id, task_id, employee_id, project_id, start_time, end_time, manual_add, created_at, updated_at
    )
    select company_id, task_id, owner_id, project_id, start_time, start_time + interval '2 hours', true, now(), now()
    from t, generate_series(timestamptz '2023-10-28T00:30Z', '2023-10-30T00:00Z', '73 minutes') as start_time`.execute(
    db,
  );
  await sql`
    update projects as p set logged_seconds = (
      select sum(duration_seconds) from task_logs as l where l.company_id = p.company_id
    )`.execute(db);
}

async function writeMemberships(db: Db): Promise<void> {
  await sql`
    with c as (
      insert into companies (name, timezone, created_at, updated_at) values ('Mills', 'UTC', now(), now())
      returning company_id
    ), a as (
      insert into accounts (email, email_verified_at, password_hash, created_at, updated_at) values
        ('proved@example.com', now(), 'x', now(), now()), ('squatted@example.com', null, 'x', now(), now())
      returning account_id, email
    ), e as (
      insert into employees (company_id, account_id, email, first_name, last_name, search_text, created_at, updated_at)
      select company_id, account_id, email, 'Ada', 'L', ' ada l', now(), now() from c, a
      returning company_id, employee_id, account_id, email
    ), k as (
      insert into api_keys (company_id, employee_id, name, key_hash, key_start, scopes, created_at)
      select company_id, employee_id, 'K', email, 'wms_', '{login}', now() from e
    )
    insert into sessions (
      account_id, company_id, employee_id, method, rotated_at, expires_at, created_at, last_used_at
    )
    select account_id, company_id, employee_id, method, now(), now() + interval '1 day', now(), now()
    from e, unnest(array['password', 'token']) as method`.execute(db);
  for (const email of ['proved@example.com', 'squatted@example.com'])
    await sql`
      insert into deliveries (reaction, lane, dedupe_key, payload, due_at, created_at)
      select 'send-invitation', 'mail', email, jsonb_build_object(
        'companyId', company_id, 'employeeId', employee_id, 'invitedById', employee_id), now(), now()
      from employees where email = ${email}`.execute(db);
}

async function writeOutbox(db: Db): Promise<void> {
  await sql`
    insert into deliveries (
      delivery_id, reaction, lane, dedupe_key, payload, attempts, due_at, parked_at, last_error, created_at
    ) overriding system value values
      (101, 'timer-of-leaver', 'database', 'timer-of-leaver 7', '{}', 0, now(), null, null, now()),
      (102, 'send-code', 'mail', 'send-code a', '{}', 35, now(), now(), 'down', now())`.execute(db);
}

describe('a database that older versions have written to', () => {
  // One database goes through the versions, as those of users did: each test looks at what was written at one of them.
  let db: Db;
  let lackingAtFirst: string[];
  let lackingAtLast: string[];
  let taken: string[];
  let remove: (() => Promise<void>) | undefined;

  beforeAll(async () => {
    const opened = await makeEmpty();
    ({ remove } = opened);
    ({ db } = opened.databases[0]!);
    const migrator = new Migrator({ db, provider: { getMigrations: async () => migrations } });
    const stages: [string, (db: Db) => Promise<void>][] = [
      [names[1]!, writeAccount],
      ['0005-delivery', writeLogs],
      ['0012-owner-counts', writeMemberships],
      ['0020-derived-data', writeOutbox],
    ];
    for (const [name, write] of stages) {
      const { error } = await migrator.migrateTo(name);
      if (error !== undefined) throw error;
      lackingAtFirst ??= await pendingMigrations(db);
      await write(db);
    }
    lackingAtLast = await pendingMigrations(db);
    taken = await migrate(db);
  });
  afterAll(async () => remove?.());

  test('takes the steps that it lacks and keeps its rows', async () => {
    expect(lackingAtFirst).toEqual(names.slice(2));
    expect(taken).toEqual(names.slice(names.indexOf('0020-derived-data') + 1));
    expect(lackingAtLast).toEqual(taken);
    expect(await db.selectFrom('accounts').where('email', '=', 'kept@example.com').select('email').execute()).toEqual([
      { email: 'kept@example.com' },
    ]);
  });

  test('has the logs of a time before days of work counted', async () => {
    const companies = await db
      .selectFrom('companies')
      .where('name', 'in', ['Engines', 'Looms'])
      .select(['company_id', 'timezone'])
      .execute();
    expect(companies).toHaveLength(2);
    for (const { company_id: companyId, timezone } of companies) {
      expect((await verifyTotals(db, companyId)).differences).toEqual([]);
      const kept = await storedMinutes(db, companyId);
      expect(Object.keys(kept)).toHaveLength(3);
      expect(kept).toEqual(countMinutes(await listLogs(db, companyId), timezone));
    }
  });

  test('has memberships accepted where the address was proved, and invited with nothing left open elsewhere', async () => {
    const { rows: people } = await sql`
      select e.email, e.account_id is not null as "isJoined", i.outcome, i.email as invited,
        k.revoked_at is null as "hasKey"
      from employees as e
      left join invitations as i on i.company_id = e.company_id and i.employee_id = e.employee_id
      join api_keys as k on k.company_id = e.company_id and k.employee_id = e.employee_id order by 1`.execute(db);
    expect(people).toEqual([
      { email: 'proved@example.com', isJoined: true, outcome: null, invited: null, hasKey: true },
      { email: 'squatted@example.com', isJoined: false, outcome: null, invited: 'squatted@example.com', hasKey: false },
    ]);
    // A session by token may have been opened by a key, so it ends too.
    const { rows: live } = await sql`
      select a.email, s.method from sessions as s join accounts as a on a.account_id = s.account_id
      where s.ended_at is null`.execute(db);
    expect(live).toEqual([{ email: 'proved@example.com', method: 'password' }]);
    const { rows: mails } = await sql<{ payload: object }>`
      select payload from jobs where handler not in ('employee-offboarded', 'send-code')`.execute(db);
    expect(mails).toEqual([{ payload: { companyId: expect.any(Number), invitationId: expect.any(Number) } }]);
  });

  test('keeps the rows of the outbox, which loses every old name', async () => {
    const jobs = await db
      .selectFrom('jobs')
      .where('handler', 'in', ['employee-offboarded', 'send-code'])
      .select(['job_id', 'handler', 'queue', 'dedupe_key', 'attempts', 'last_error'])
      .select((eb) => eb('dead_lettered_at', 'is not', null).as('isDeadLettered'))
      .orderBy('job_id')
      .execute();
    const offboarded = { handler: 'employee-offboarded', queue: 'database', dedupe_key: 'employee-offboarded 7' };
    const code = { handler: 'send-code', queue: 'mail', dedupe_key: 'send-code a' };
    expect(jobs).toEqual([
      { job_id: 101, ...offboarded, attempts: 0, last_error: null, isDeadLettered: false },
      { job_id: 102, ...code, attempts: 35, last_error: 'down', isDeadLettered: true },
    ]);
    const { rows } = await sql`
      select relname as name from pg_class where relname ~ 'deliver|lane|parked'
      union all select conname from pg_constraint where conname ~ 'deliver|reaction|lane|parked'`.execute(db);
    expect(rows).toEqual([]);
  });
});

test('counts of projects that were imported as deleted are corrected, and others stay', async () => {
  const db = await openMigrated();
  const { rows } = await sql<{ companyId: number }>`
    with c as (
      insert into companies (name, timezone, created_at, updated_at)
      values ('Imported', 'UTC', now(), now()), ('Right', 'UTC', now(), now()) returning company_id
    ), a as (
      insert into employees (company_id, email, first_name, last_name, search_text, created_at, updated_at)
      select company_id, 'ada@example.com', 'Ada', 'L', ' ada l', now(), now() from c returning company_id, employee_id
    )
    insert into projects (company_id, name, owner_id, status, deleted_at, created_at, updated_at)
    select company_id, 'P', employee_id, status, deleted_at, now(), now()
    from a, (values ('active', null), ('active', now()), ('archived', now())) as p (status, deleted_at)
    returning company_id as "companyId"`.execute(db);
  const [imported, right] = [...new Set(rows.map(({ companyId }) => companyId))];
  const stored = () => db.selectFrom('company_counts').selectAll().orderBy('company_id').orderBy('status').execute();
  const before = await stored();
  expect(before.map(({ company_id: id, status, count }) => [id, status, count])).toEqual([
    [imported, 'active', 1],
    [right, 'active', 1],
  ]);
  const wrong = { kind: 'project', owner_id: 0, shard: 1, count: 1 };
  for (const status of ['active', 'archived'])
    await db
      .insertInto('company_counts')
      .values({ company_id: imported!, status, ...wrong })
      // The right count has a shard by chance.
      .onConflict((conflict) =>
        conflict.constraint('company_counts_pkey').doUpdateSet({ count: sql`excluded.count + 1` }),
      )
      .execute();

  await migrations['0040-imported-projects']!.up(db);
  expect((await verifyCounts(db, imported!)).differences).toEqual([]);
  expect((await stored()).filter(({ company_id: id }) => id === right)).toEqual(
    before.filter(({ company_id: id }) => id === right),
  );
});

test('a step that fails is named and leaves nothing behind, of itself or of those before it', async () => {
  const [database] = await openEmpty();
  const { db } = database!;
  await sql`create table projects (in_the_way text)`.execute(db);
  const failure = await migrate(db).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(MigrationFailed);
  expect(failure).toMatchObject({ message: 'Migration 0003-work failed; nothing of it was kept.' });
  expect(await tablesOf(db)).toEqual(['projects']);

  await sql`drop table projects`.execute(db);
  expect(await migrate(db)).toEqual(names);
});

test('a database of a newer version is refused with both versions named, and left alone', async () => {
  const db = await openMigrated();
  await sql`insert into kysely_migration (name, timestamp) values ('9999-future', '2099-01-01')`.execute(db);
  await expect(migrate(db)).rejects.toThrow(
    `The database was migrated by a newer version (it has 9999-future), and this version knows up to ${names.at(-1)}: ` +
      'start that version, or restore a backup of before.',
  );
  await sql`delete from kysely_migration where name = '9999-future'`.execute(db);
  expect(await migrate(db)).toEqual([]);
});

test('a step waits a second for a lock, and takes as long as it needs', async () => {
  const db = await openMigrated();
  const limits: unknown[] = [];
  const up = async (handle: Kysely<unknown>) => {
    const select = sql`select current_setting('lock_timeout') as lock, current_setting('statement_timeout') as statement`;
    limits.push(...(await select.execute(handle)).rows);
  };
  await migrate(db, { ...migrations, '9999-limits': { up } });
  expect(limits).toEqual([{ lock: '1s', statement: '0' }]);
});

test('of newer migrations those are incompatible that need a migration which this version does not know', async () => {
  const db = await openMigrated();
  const known = names.at(-1)!.slice(0, 4);
  for (const name of ['9996-additive', `9997-drop-unused-needs-${known}`, '9998-drop-used-needs-9996'])
    await sql`insert into kysely_migration (name, timestamp) values (${name}, '2099-01-01')`.execute(db);
  expect(await readState(db)).toEqual({
    pending: [],
    incompatible: ['9998-drop-used-needs-9996'],
    isReadOnly: false,
  });
});

describe.runIf(template.kind === 'server')('on a server', () => {
  test('several processes that start at once take each step once', async () => {
    const databases = await openEmpty(4);
    const taken = await Promise.all(databases.map(({ db }) => migrate(db)));
    expect(taken.flat()).toEqual(names);
  });

  test('a step that waits behind a long read gives way to writes, and is taken once the read ends', async () => {
    const [database, second] = await openEmpty(2);
    const { db } = database!;
    await migrate(db);
    const up = async (handle: Kysely<unknown>) =>
      void (await sql`alter table accounts add column label text`.execute(handle));
    const reading = second!.begin();
    await sql`select count(*) from accounts`.execute(reading.db);
    const migrated = migrate(db, { ...migrations, '9999-labels': { up } });

    const isWaiting = async () => {
      const { rows } = await sql`
        select from pg_locks as l join pg_database as d on d.oid = l.database
        where d.datname = current_database() and not l.granted and l.mode = 'AccessExclusiveLock'`.execute(second!.db);
      return rows.length > 0;
    };
    await waitUntil(isWaiting);
    // It would wait for the read, which goes on.
    await sql`insert into accounts (email, created_at, updated_at) values ('ada@example.com', now(), now())`.execute(
      second!.db,
    );
    await reading.commit();
    expect(await migrated).toEqual(['9999-labels']);
    expect(
      await db
        .selectFrom('accounts')
        .select(sql`label`.as('label'))
        .execute(),
    ).toEqual([{ label: null }]);
  });

  test('a step that loses a deadlock against a write is taken again once the write ends', async () => {
    const [database, second] = await openEmpty(2);
    const { db } = database!;
    await migrate(db);
    const up = async (handle: Kysely<unknown>) => {
      // Sooner than its wait for a lock ends, as servers may have it.
      await sql`set local deadlock_timeout = '100ms'`.execute(handle);
      await sql`alter table companies add column label text`.execute(handle);
      await sql`alter table accounts add column label text`.execute(handle);
    };
    const writing = second!.begin();
    // The step looks for a deadlock first, and so it is the one that ends.
    await sql`set local deadlock_timeout = '1min'`.execute(writing.db);
    await sql`select count(*) from accounts`.execute(writing.db);
    const migrated = migrate(db, { ...migrations, '9999-labels': { up } });

    await waitForLockWaits(second!.db, 1);
    await sql`select count(*) from companies`.execute(writing.db);
    await writing.commit();
    expect(await migrated).toEqual(['9999-labels']);
  });
});
