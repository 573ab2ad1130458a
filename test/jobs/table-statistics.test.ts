import { sql } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import type { Db } from '../../db/open.ts';
import { analyzeGrownTables } from '../../server/jobs/table-statistics.ts';
import { openClone } from '../support/database.ts';

/** A transaction on a new database. What it writes is analysed by nobody else. */
async function begin(): Promise<Db> {
  const database = await openClone();
  const { db, rollback } = database.owner.begin();
  onTestFinished(async () => {
    await sql`deallocate all`.execute(db);
    await rollback();
    await database.close();
  });
  return db;
}

const insertCodes = (db: Db, from: number, to: number) =>
  sql`
    insert into one_time_codes (email, purpose, code_hash, created_at, expires_at)
    select n || '@company.example', 'login', 'hash', now(), now()
    from generate_series(${sql.lit(from)}, ${sql.lit(to)}) as n`.execute(db);

async function planOf(db: Db): Promise<string> {
  const { rows } = await sql<
    Record<string, string>
  >`explain (costs off) execute find_code ('7@company.example')`.execute(db);
  return rows.flatMap((row) => Object.values(row)).join('\n');
}

test('a plan that was made for an empty table is given up when the table has grown', async () => {
  const db = await begin();
  await sql`analyze one_time_codes`.execute(db);
  await sql`set local plan_cache_mode = force_generic_plan`.execute(db);
  await sql`prepare find_code (text) as select code_hash from one_time_codes where email = $1 and purpose = 'login'`.execute(
    db,
  );
  expect(await planOf(db)).toContain('Seq Scan');
  await insertCodes(db, 1, 3_000);
  expect(await planOf(db)).toContain('Seq Scan');

  expect(await analyzeGrownTables(db)).toEqual(['one_time_codes']);
  expect(await planOf(db)).not.toContain('Seq Scan');
});

test('a table is analysed again when it has grown fourfold, and not before', async () => {
  const db = await begin();
  await insertCodes(db, 1, 50);
  expect(await analyzeGrownTables(db)).toEqual([]);
  await insertCodes(db, 51, 3_000);
  expect(await analyzeGrownTables(db)).toEqual(['one_time_codes']);
  await insertCodes(db, 3_001, 6_000);
  expect(await analyzeGrownTables(db)).toEqual([]);
  await insertCodes(db, 6_001, 12_500);
  expect(await analyzeGrownTables(db)).toEqual(['one_time_codes']);
});
