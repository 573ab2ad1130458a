import { readFile, writeFile } from 'node:fs/promises';
import { sql } from 'kysely';
import { migrations } from '../../db/migrations/index.ts';
import type { Db } from '../../db/open.ts';
import { companyRole } from '../../db/scope.ts';

export type Bundle = {
  /** The last migration that the nodes of the release know. */
  migration: string;
  /** The checksums of its definitions of derived data, by name. */
  derived: Record<string, string>;
  /** What its nodes send to the database. */
  statements: string[];
};

const file = new URL('released.json', import.meta.url);

export const latestMigration = Object.keys(migrations).at(-1)!;

export const readBundle = async (): Promise<Bundle> => JSON.parse(await readFile(file, 'utf8')) as Bundle;

export const writeBundle = (bundle: Bundle): Promise<void> => writeFile(file, `${JSON.stringify(bundle, null, 2)}\n`);

/** The checksums of the installed definitions of derived data. */
export async function readDerived(db: Db): Promise<Bundle['derived']> {
  const rows = await db.selectFrom('derived_definitions').select(['name', 'hash']).orderBy('name').execute();
  return Object.fromEntries(rows.map(({ name, hash }) => [name, hash]));
}

/*
 * A node prepares its statements once and keeps them over a migration. So does this: PostgreSQL then analyses and plans
 * them again, and fails where a table, a column, a function, a type, an arbiter of ON CONFLICT or a right is missing, and
 * where the result has other columns than before. What only the rows of a statement meet is in catalogue.ts.
 */

/** Prepares the statement with that number for the session of `db`, a database with one connection. */
export async function prepareStatement(db: Db, text: string, index: number): Promise<void> {
  await sql.raw(`prepare ${nameOf(index)} as ${text}`).execute(db);
}

/** Plans the prepared statements as the service's role; answers each that fails with its reason. */
export async function planStatements(
  db: Db,
  statements: readonly string[],
): Promise<{ text: string; error: string }[]> {
  const run = <Row>(text: string) => sql.raw<Row>(text).execute(db);
  const counts = await run<{ name: string; count: number }>(
    'select name, cardinality(parameter_types) as count from pg_prepared_statements',
  );
  const parameters = new Map(counts.rows.map(({ name, count }) => [name, count]));
  const failed: { text: string; error: string }[] = [];
  await run('savepoint planning');
  await run(`set local role ${companyRole}`);
  await run('set local plan_cache_mode = force_generic_plan');
  await run('savepoint next');
  for (const [index, text] of statements.entries()) {
    const values = Array.from({ length: parameters.get(nameOf(index))! }, () => 'null').join();
    try {
      await run(`explain (costs off) execute ${nameOf(index)}${values === '' ? '' : `(${values})`}`);
    } catch (error) {
      failed.push({ text, error: (error as Error).message });
      await run('rollback to next');
    }
  }
  await run('rollback to planning');
  return failed;
}

const nameOf = (index: number): string => `released_${index}`;
