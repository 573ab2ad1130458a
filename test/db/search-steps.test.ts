import { sql } from 'kysely';
import { afterAll, expect, test } from 'vitest';
import type { Db } from '../../db/open.ts';
import { leaveGap } from '../../db/restored.ts';
import { openClone } from '../support/database.ts';

/* How many rows a search reads does not depend on how far the numbers of rows are apart. */

const database = await openClone({ connectionsMax: 1 });
afterAll(() => database.close());
const { db } = database.owner;

const { rows } = await sql<{ companyId: number }>`
  with c as (
    insert into companies (name, timezone, created_at, updated_at) values ('Engines', 'UTC', now(), now()) returning company_id
  ), e as (
    insert into employees (company_id, email, first_name, last_name, search_text, created_at, updated_at)
    select company_id, 'ada@example.com', 'Ada', 'L', ' ada l', now(), now() from c returning company_id, employee_id
  )
  insert into projects (company_id, name, owner_id, created_at, updated_at)
  select company_id, 'P', employee_id, now(), now() from e returning company_id as "companyId"`.execute(db);
const { companyId } = rows[0]!;

/** Every task has the word "gear", every tenth also "cam". */
const addTasks = (count: number) =>
  sql`
  insert into tasks (company_id, project_id, title, owner_id, created_at, updated_at)
  select company_id, project_id, case n % 10 when 0 then 'gear cam' else 'gear' end, owner_id, now(), now()
  from projects cross join generate_series(1, ${count}::integer) as n where company_id = ${companyId} order by n`.execute(
    db,
  );

/** The newest 50 matches of a search, and how many rows it has read. */
async function search(word: string): Promise<{ found: number[]; read: number }> {
  return db.transaction().execute(async (transaction) => {
    const before = await countRead(transaction);
    const { rows: found } = await sql<{ id: number }>`
      select id from search_matches(
        'task', ${companyId}, ${JSON.stringify([[word]])}::jsonb, '{}', null, 1000000000000, 50
      ) as id`.execute(transaction);
    const distinct = new Set(found.map(({ id }) => id));
    return {
      found: [...distinct].toSorted((a, b) => b - a).slice(0, 50),
      read: (await countRead(transaction)) - before,
    };
  });
}

async function countRead(transaction: Db): Promise<number> {
  const { rows: counted } = await sql<{ read: number }>`
    select idx_tup_fetch::integer as read from pg_stat_xact_user_tables where relname = 'tasks'`.execute(transaction);
  return counted[0]!.read;
}

async function listNewest(word: string): Promise<number[]> {
  const { rows: newest } = await sql<{ id: number }>`
    select task_id as id from tasks where company_id = ${companyId} and title like ${`%${word}%`}
    order by task_id desc limit 50`.execute(db);
  return newest.map(({ id }) => id);
}

test.each([
  ['has tasks without gaps', () => addTasks(20_000)],
  ['was restored and has three new tasks', () => leaveGap(db).then(() => addTasks(3))],
  ['was restored and has 1,200 new tasks', () => addTasks(1_197)],
  ['was restored again', () => leaveGap(db).then(() => addTasks(20))],
])('a search for a frequent word reads the newest tasks alone, where a company %s', async (_what, prepare) => {
  await prepare();
  await sql`analyze tasks`.execute(db);
  for (const word of ['gear', 'cam']) {
    const { found, read } = await search(word);
    expect(found).toEqual(await listNewest(word));
    expect(read).toBeLessThan(6_000);
  }
});

test('a search for a word of an old task finds it behind gaps', async () => {
  const { rows: oldest } = await sql<{ id: number }>`
    select min(task_id) as id from tasks where company_id = ${companyId}`.execute(db);
  const { id } = oldest[0]!;
  await sql`update tasks set title = 'crankshaft' where task_id = ${id}`.execute(db);
  expect((await search('crankshaft')).found).toEqual([id]);
});
