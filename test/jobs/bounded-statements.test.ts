import { sql } from 'kysely';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import type { Db } from '../../db/open.ts';
import { takeAlike, takeLeases } from '../../server/jobs/lease-statements.ts';
import { deleteBatch, rules } from '../../server/jobs/old-rows.ts';
import { startService } from '../support/service.ts';

/*
 * What a statement claims or deletes is bounded under any plan. On a table that was analysed while it was empty the planner
 * expects one row, and may run the subquery that picks the rows once for each row of the table.
 */

const { database } = await startService();
const now = new Date('2026-03-02T08:00:00Z');
const until = new Date('2026-03-02T08:00:20Z');
const count = 3;

/** A transaction in which the planner can only join by nested loops, and expects tables that are as good as empty. */
async function withBadPlans(table: string): Promise<Db> {
  await sql`analyze ${sql.table(table)}`.execute(database.db);
  const transaction = database.begin();
  onTestFinished(() => transaction.rollback());
  for (const setting of ['hashjoin', 'mergejoin', 'hashagg', 'sort', 'material'])
    await sql`set local ${sql.raw(`enable_${setting}`)} = off`.execute(transaction.db);
  return transaction.db;
}

beforeEach(() => database.db.deleteFrom('jobs').execute());

const insertJobs = (db: Db, jobs: number) =>
  sql`
  insert into jobs (handler, queue, dedupe_key, payload, due_at, created_at)
  select 'some', 'database', 'some ' || n, '{}', ${now}, ${now} from generate_series(1, ${jobs}::int) as n`.execute(db);

test('no more jobs are claimed than asked for', async () => {
  const db = await withBadPlans('jobs');
  await insertJobs(db, 200);
  const claim = await takeLeases(db, { queue: 'database', count, heldIds: [], after: 0, now, until });
  expect(claim.jobs).toHaveLength(count);
  const { rows } = await sql`select from jobs where leased_until is not null`.execute(db);
  expect(rows).toHaveLength(count);
});

test('no more jobs are added to a batch than asked for', async () => {
  const db = await withBadPlans('jobs');
  await insertJobs(db, 200);
  const claim = await takeLeases(db, { queue: 'database', count: 1, heldIds: [], after: 0, now, until });
  expect(await takeAlike(db, claim.jobs[0]!, { queue: 'database', count, now, until })).toHaveLength(count);
  const { rows } = await sql`select from jobs where leased_until is not null`.execute(db);
  expect(rows).toHaveLength(1 + count);
});

test.each([0, -155])('asked for %i jobs, it claims none', async (none) => {
  await insertJobs(database.db, 3);
  const claim = await takeLeases(database.db, { queue: 'database', count: none, heldIds: [], after: 7, now, until });
  expect(claim).toEqual({ jobs: [], after: 7 });
});

test('a sweep deletes old rows in batches of the size that it says', async () => {
  const db = await withBadPlans('one_time_codes');
  await sql`
    insert into one_time_codes (email, purpose, code_hash, created_at, expires_at)
    select 'person' || n || '@example.com', 'login', 'hash', ${now}, ${now} from generate_series(1, 1200) as n`.execute(
    db,
  );
  const codes = rules.find(({ table }) => table === 'one_time_codes')!;
  expect(await deleteBatch(db, codes, until)).toBe(500);
  const { rows } = await sql`select from one_time_codes`.execute(db);
  expect(rows).toHaveLength(700);
});
