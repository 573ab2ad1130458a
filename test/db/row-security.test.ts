import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { compiled } from '../../db/pipeline/compiled.ts';
import { rowLoader } from '../../db/pipeline/loader.ts';
import { migrate } from '../../db/migrate.ts';
import { openServer, type Db, type Handles } from '../../db/open.ts';
import { RowSecurityDenied, secureTables } from '../../db/row-security.ts';
import { acrossCompanies, acrossRole, companyRole, inCompany } from '../../db/scope.ts';
import { openClone } from '../support/database.ts';
import { runOn, withDatabase } from '../support/template.ts';

const database = await openClone();
afterAll(() => database.close());
const { db: owner } = database.owner;
const now = new Date();
const isEmbedded = inject('template').kind === 'embedded';

type Company = { companyId: number; employeeId: number; projectId: number; name: string };
let ours: Company;
let theirs: Company;
beforeAll(async () => {
  [ours, theirs] = await Promise.all([insertCompany('Ours'), insertCompany('Theirs')]);
});

/** A company with one row in each of some tables. */
async function insertCompany(name: string): Promise<Company> {
  const stamps = { created_at: now, updated_at: now };
  const { company_id: companyId } = await owner
    .insertInto('companies')
    .values({ name, timezone: 'UTC', ...stamps })
    .returning('company_id')
    .executeTakeFirstOrThrow();
  const { account_id: accountId } = await owner
    .insertInto('accounts')
    .values({ email: `${name.toLowerCase()}@example.com`, ...stamps })
    .returning('account_id')
    .executeTakeFirstOrThrow();
  const { employee_id: employeeId } = await owner
    .insertInto('employees')
    .values({
      company_id: companyId,
      account_id: accountId,
      email: `${name.toLowerCase()}@example.com`,
      first_name: name,
      last_name: 'Person',
      search_text: '',
      ...stamps,
    })
    .returning('employee_id')
    .executeTakeFirstOrThrow();
  const { project_id: projectId } = await owner
    .insertInto('projects')
    .values({ company_id: companyId, name: `${name} project`, owner_id: employeeId, ...stamps })
    .returning('project_id')
    .executeTakeFirstOrThrow();
  return { companyId, employeeId, projectId, name };
}

/** A query that somebody forgot to scope. */
const listProjects = async (db: Db) =>
  (await db.selectFrom('projects').select('name').orderBy('name').execute()).map(({ name }) => name);
const listCompiled = compiled<{ like: string }, { name: string }>((db, placeholder) =>
  db.selectFrom('projects').where('name', 'like', placeholder('like')).select('name').orderBy('name').compile(),
);
const findProject = rowLoader<{ company_id: number; project_id: number; name: string }>('project_id', (db, isAsked) =>
  db.selectFrom('projects').where(isAsked).select(['company_id', 'project_id', 'name']).compile(),
);

describe.each<[string, (handles: Handles) => Promise<{ db: Db; end(): Promise<void> }>]>([
  ['a statement by itself', async ({ db }) => ({ db, end: async () => {} })],
  ['a read', async ({ reads }) => ({ db: reads, end: async () => {} })],
  [
    'a transaction',
    async ({ begin }) => {
      const transaction = begin();
      return { db: transaction.db, end: () => transaction.commit() };
    },
  ],
])('%s that forgets the company', (_, open) => {
  test.each([
    ['of a company sees its rows alone', () => database.forCompany(ours.companyId), ['Ours project']],
    ['of no company sees none', () => database, []],
    ['across companies sees all', () => database.acrossCompanies, ['Ours project', 'Theirs project']],
  ] as const)('%s', async (__, handles, expected) => {
    const { db, end } = await open(handles());
    try {
      expect(await listProjects(db)).toEqual(expected);
      // The same statement without Kysely's layers.
      expect((await listCompiled(db, { like: '%' })).map(({ name }) => name)).toEqual(expected);
      // A join, a subquery, a common table expression and a count.
      const { rows } = await sql<{ count: number }>`
        with found as (select p.company_id, p.project_id from projects as p join companies as c using (company_id))
        select count(*) from found where project_id in (select project_id from projects)`.execute(db);
      expect(rows[0]!.count).toBe(expected.length);
    } finally {
      await end();
    }
  });
});

describe('a company', () => {
  const stamps = { created_at: now, updated_at: now };
  const foreign = () => ({ company_id: theirs.companyId, name: 'Smuggled', owner_id: theirs.employeeId, ...stamps });
  const writes: [string, (db: Db) => Promise<unknown>][] = [
    ['inserted', (db) => db.insertInto('projects').values(foreign()).execute()],
    [
      'inserted where there is none yet',
      (db) =>
        db
          .insertInto('projects')
          .values(foreign())
          .onConflict((conflict) => conflict.doNothing())
          .execute(),
    ],
    ['made of its own', (db) => db.updateTable('projects').set({ company_id: theirs.companyId }).execute()],
  ];
  test.each(writes)('has no row of another one %s', async (_, write) => {
    const handles = database.forCompany(ours.companyId);
    await expect(write(handles.db)).rejects.toThrow('row-level security');
    const transaction = handles.begin();
    try {
      await expect(write(transaction.db)).rejects.toThrow('row-level security');
    } finally {
      await transaction.rollback();
    }
  });

  test('changes and deletes none of another one, and is not told that it is there', async () => {
    const { db } = database.forCompany(ours.companyId);
    const changed = await db
      .updateTable('projects')
      .set({ name: 'Taken' })
      .where('project_id', '=', theirs.projectId)
      .executeTakeFirst();
    const deleted = await db.deleteFrom('projects').where('project_id', '=', theirs.projectId).executeTakeFirst();
    expect([changed.numUpdatedRows, deleted.numDeletedRows]).toEqual([0n, 0n]);
    expect(await listProjects(owner)).toEqual(['Ours project', 'Theirs project']);
  });

  test('writes its own, and what belongs to no company', async () => {
    const transaction = database.forCompany(ours.companyId).begin();
    const { db } = transaction;
    await db.updateTable('projects').set({ description: 'Changed' }).execute();
    await db.insertInto('accounts').values({ email: 'nobody@example.com', created_at: now, updated_at: now }).execute();
    await transaction.commit();
    const changed = await owner.selectFrom('projects').select('name').where('description', '=', 'Changed').execute();
    expect(changed).toEqual([{ name: 'Ours project' }]);
  });

  test('gets each its own row of those that are looked up at once', async () => {
    const found = await Promise.all(
      [ours, theirs].flatMap(({ companyId }) =>
        [ours, theirs].map(({ projectId }) => findProject(database.forCompany(companyId).reads, companyId, projectId)),
      ),
    );
    expect(found.map((row) => row?.name)).toEqual(['Ours project', undefined, undefined, 'Theirs project']);
  });
});

describe('a scope', () => {
  test('ends with its statement, whatever becomes of that', async () => {
    const { reads } = database.forCompany(ours.companyId);
    const all = await Promise.allSettled(
      Array.from({ length: 40 }, async (_, index) => {
        const company = index % 2 === 0 ? ours : theirs;
        const handles = database.forCompany(company.companyId);
        // Some fail before they run, some while they run, and some between them see nothing.
        if (index % 5 === 1) await sql`select * from no_such_table where ${index} = 1`.execute(handles.reads);
        if (index % 5 === 2) await sql`select 1 / (${index}::integer - ${index}::integer)`.execute(handles.db);
        const between = index % 5 === 3 ? await listProjects(database.reads) : [];
        expect(between).toEqual([]);
        expect(await listProjects(handles.reads)).toEqual([`${company.name} project`]);
        expect(await listProjects(handles.db)).toEqual([`${company.name} project`]);
      }),
    );
    expect(all.filter(({ status }) => status === 'rejected')).toHaveLength(16);
    expect(await listProjects(reads)).toEqual(['Ours project']);
    const { rows } = await sql<{ user: string; company: string }>`
      select current_user as user, coalesce(current_setting('app.company_id', true), '') as company`.execute(owner);
    expect(rows).toEqual([{ user: expect.not.stringMatching(/^wms_/) as string, company: '' }]);
  });

  test('ends with its transaction, also where that is rolled back', async () => {
    const transaction = database.forCompany(ours.companyId).begin();
    expect(await listProjects(transaction.db)).toEqual(['Ours project']);
    await expect(sql`select 1 / 0`.execute(acrossCompanies(transaction.db))).rejects.toThrow('zero');
    await transaction.rollback();
    expect(await listProjects(database.db)).toEqual([]);
    expect(await listProjects(database.forCompany(theirs.companyId).db)).toEqual(['Theirs project']);
  });

  test('may change within a transaction, for the statements that ask for it', async () => {
    const transaction = database.begin();
    const { db } = transaction;
    const answers = await Promise.all([
      listProjects(db),
      listProjects(inCompany(db, theirs.companyId)),
      listProjects(acrossCompanies(db)),
      listProjects(db),
      listProjects(inCompany(inCompany(db, theirs.companyId), ours.companyId)),
    ]);
    expect(answers).toEqual([[], ['Theirs project'], ['Ours project', 'Theirs project'], [], ['Ours project']]);
    await inCompany(db, ours.companyId).updateTable('projects').set({ description: 'In one' }).execute();
    await transaction.commit();
    const changed = await owner.selectFrom('projects').select('name').where('description', '=', 'In one').execute();
    expect(changed).toEqual([{ name: 'Ours project' }]);
  });

  test('is of a number, for it becomes part of a statement', () => {
    expect(() => database.forCompany("1'; drop table companies; --" as unknown as number)).toThrow(TypeError);
  });
});

/** Tables without a company_id, each with why it has none. */
const ofNoCompany: Record<string, string> = {
  audit_clock: 'of the database itself',
  accounts: 'a person, who may be an employee of several companies',
  identities: "an account's",
  account_devices: "an account's",
  one_time_codes: "an address's, before anybody knows of which company",
  one_time_tokens: "an account's",
  used_identity_tokens: "a provider's, before anybody knows whose",
  apple_claims: "an account's",
  idempotent_answers: 'found by a hash of a secret and sealed with it',
  oauth_clients: 'a program’s, which people of any company may let in',
  plans: 'the same for all',
  jobs: "the service's: some of them are for strangers",
  derived_definitions: 'of the database itself',
  morning_rounds: 'how far the mornings of all companies have been planned',
  sweep_rounds: 'when old rows of all companies were last looked for',
};

test('every table with a company_id is behind policies, and every other one says why it has none', async () => {
  const { rows } = await sql<{ name: string; hasCompany: boolean; isSecured: boolean; policies: string[] }>`
    select c.relname as name, c.relrowsecurity as "isSecured",
      exists (select from pg_attribute as a where a.attrelid = c.oid and a.attname = 'company_id') as "hasCompany",
      array(
        select p.polname || ' for ' || r.rolname || ' using ' || pg_get_expr(p.polqual, c.oid)
        from pg_policy as p join pg_roles as r on r.oid = any(p.polroles)
        where p.polrelid = c.oid and p.polcmd = '*' and p.polpermissive and p.polwithcheck is null order by 1
      ) as policies
    from pg_class as c
    where c.relkind in ('r', 'p') and c.relnamespace = 'public'::regnamespace and c.relname not like 'kysely%'
    order by 1`.execute(owner);
  const unexplained = rows.filter(({ name, hasCompany }) => !hasCompany && !(name in ofNoCompany));
  expect(
    unexplained.map(
      ({ name }) => `${name} has no company_id: add one, or say in ofNoCompany (row-security.test.ts) why it has none`,
    ),
  ).toEqual([]);
  const secured = [
    `all_companies for ${acrossRole} using true`,
    `one_company for ${companyRole} using (company_id = (NULLIF(current_setting('app.company_id'::text, true), ''::text))::bigint)`,
  ];
  const companyTables = rows.filter(({ hasCompany }) => hasCompany);
  expect(companyTables.length).toBeGreaterThan(20);
  for (const { name, isSecured, policies } of companyTables)
    expect({ name, isSecured, policies }).toEqual({ name, isSecured: true, policies: secured });
  expect(Object.keys(ofNoCompany).filter((name) => !rows.some((row) => row.name === name && !row.hasCompany))).toEqual(
    [],
  );
});

test('the roles own nothing, log in nowhere and bypass nothing', async () => {
  const { rows } = await sql`
    select rolname as name from pg_roles
    where rolname in (${companyRole}, ${acrossRole})
      and not (rolsuper or rolbypassrls or rolcanlogin or rolcreaterole or rolcreatedb)
      and not exists (select from pg_class where relowner = pg_roles.oid)
    order by 1`.execute(owner);
  expect(rows).toEqual([{ name: acrossRole }, { name: companyRole }]);
  await expect(sql`create table mine (id integer)`.execute(database.acrossCompanies.db)).rejects.toThrow('permission');
  await expect(sql`alter table projects disable row level security`.execute(database.forCompany(1).db)).rejects.toThrow(
    'must be owner',
  );
});

test('a table that comes later is secured without being named, by several processes at once', async () => {
  await sql`create table visits (company_id bigint not null, visit_id bigint generated always as identity)`.execute(
    owner,
  );
  try {
    await (isEmbedded ? secureTables(owner) : Promise.all([1, 2, 3].map(() => secureTables(owner))));
    await sql`insert into visits (company_id) values (${ours.companyId}), (${theirs.companyId})`.execute(owner);
    const { rows } = await sql`select company_id from visits`.execute(database.forCompany(ours.companyId).db);
    expect(rows).toEqual([{ company_id: ours.companyId }]);
    await secureTables(owner);
  } finally {
    await sql`drop table visits`.execute(owner);
  }
});

describe.skipIf(isEmbedded)('a database of a user who is no superuser', () => {
  const { url } = inject('template') as { url: string };
  const name = `wms_test_${randomBytes(6).toString('hex')}`;
  // The body is run where the tests are skipped, too.
  const asUser = isEmbedded ? '' : Object.assign(new URL(withDatabase(url, name)), { username: name }).href;
  beforeAll(async () => {
    await runOn(url, `create role ${name} login`);
    await runOn(url, `create database ${name} owner ${name}`);
  });
  afterAll(async () => {
    await runOn(url, `drop database ${name} with (force)`);
    await runOn(url, `drop role ${name}`);
  });

  test('is secured where they may have the roles; else they are told what an administrator has to run', async () => {
    const opened = openServer(asUser, { rowSecurity: true });
    try {
      await migrate(opened.owner.db);
      await expect(secureTables(opened.owner.db)).rejects.toThrow(RowSecurityDenied);
      const sentence = await secureTables(opened.owner.db).catch((error: Error) => error.message);
      const [command] = /grant wms_company, .*;$/.exec(sentence ?? '')!;
      await runOn(url, command);
      await secureTables(opened.owner.db);
      const stamps = { created_at: now, updated_at: now };
      const made = await opened.acrossCompanies.db
        .insertInto('companies')
        .values(['One', 'Two'].map((company) => ({ name: company, timezone: 'UTC', ...stamps })))
        .returning(['company_id', 'name'])
        .execute();
      for (const { company_id, name: only } of made) {
        const handles = opened.forCompany(company_id);
        const seen = await handles.db.selectFrom('companies').select('name').execute();
        expect(seen).toEqual([{ name: only }]);
      }
      expect(await opened.db.selectFrom('companies').selectAll().execute()).toEqual([]);
    } finally {
      await opened.close();
    }
  });
});
