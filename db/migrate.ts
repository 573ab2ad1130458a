import { sql } from 'kysely';
import { Migrator } from 'kysely/migration';
import { installDerived } from './derived/index.ts';
import { migrations } from './migrations/index.ts';
import type { Db } from './open.ts';

/** The database could not be brought to the state that this program needs, and is as it was before. */
export class MigrationFailed extends Error {
  override name = 'MigrationFailed';
}

/**
 * Brings the database to the state that this program needs and answers the names of the steps taken.
 * Safe when several processes start at once: Kysely's migrator holds an advisory lock while it works,
 * and all steps of one start commit together or not at all.
 */
export async function migrate(db: Db): Promise<string[]> {
  const migrator = new Migrator({ db, provider: { getMigrations: async () => migrations } });
  const { error, results } = await migrator.migrateToLatest();
  if (error !== undefined) {
    const failed = results?.find((result) => result.status === 'Error')?.migrationName;
    throw new MigrationFailed(
      failed === undefined
        ? 'The database could not be migrated: it may be from a newer version of this service.'
        : `Migration ${failed} failed; nothing of it was kept.`,
      { cause: error },
    );
  }
  await installDerived(db);
  return (results ?? []).map((result) => result.migrationName);
}

/** The migrations that the database still lacks, for a readiness check. */
export async function pendingMigrations(db: Db): Promise<string[]> {
  return (await readState(db)).pending;
}

/**
 * What keeps the database from serving: migrations that it lacks, or that it takes no writes, as a standby does. It is asked
 * by a write that changes nothing: a connection on which that is refused is not kept.
 */
export async function readState(db: Db): Promise<{ pending: string[]; isReadOnly: boolean }> {
  try {
    const { rows } = await sql<{ name: string }>`
      with unchanged as (update kysely_migration set name = name where false)
      select name from kysely_migration`.execute(db);
    const done = new Set(rows.map((row) => row.name));
    return { pending: Object.keys(migrations).filter((name) => !done.has(name)), isReadOnly: false };
  } catch (error) {
    if ((error as { code?: unknown }).code !== readOnlyTransaction) throw error;
    return { pending: [], isReadOnly: true };
  }
}

const readOnlyTransaction = '25006';
