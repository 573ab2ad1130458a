import { sql } from 'kysely';
import { Migrator, type Migration } from 'kysely/migration';
import { installDerived } from './derived/index.ts';
import { hasLostLock, setLimits, retryLocks } from './lock-retries.ts';
import { migrations } from './migrations/index.ts';
import type { Db } from './open.ts';

/** A migration failed; the database is as it was before. */
export class MigrationFailed extends Error {
  override name = 'MigrationFailed';
}

/**
 * Migrates the database to this program's version and returns the names of the steps taken. Several processes may start
 * at once: Kysely's migrator holds an advisory lock, and all steps of one start commit together or not at all. A
 * current database takes no lock. Other nodes may serve at the same time: see lock-retries.ts.
 */
export async function migrate(db: Db, steps: Steps = migrations): Promise<string[]> {
  const done = await findDone(db, steps);
  const isCurrent = done !== undefined && pendingOf(done, steps).length === 0;
  const taken = isCurrent ? [] : await retryLocks(() => takeSteps(db, steps));
  await retryLocks(() => installDerived(db));
  return taken;
}

type Steps = Record<string, Migration>;

async function takeSteps(db: Db, steps: Steps): Promise<string[]> {
  const migrator = new Migrator({ db, provider: { getMigrations: async () => withShortLockWaits(steps) } });
  const { error, results = [] } = await migrator.migrateToLatest();
  if (error === undefined) return results.map((result) => result.migrationName);
  // Another node may have brought it further just now.
  await findDone(db, steps);
  const failed = results.find((result) => result.status === 'Error')?.migrationName;
  const what = failed === undefined ? 'The database could not be migrated' : `Migration ${failed} failed`;
  const why = hasLostLock(error) ? ': a long statement, such as that of a backup, uses its tables' : '';
  throw new MigrationFailed(`${what}${why}; nothing of it was kept.`, { cause: error });
}

const withShortLockWaits = (steps: Steps): Steps =>
  Object.fromEntries(
    Object.entries(steps).map(([name, { up }]) => [name, { up: async (db) => up(await setLimits(db)) }]),
  );

/** The migrations that were run, none of them of a newer version; undefined in a new database. */
async function findDone(db: Db, steps: Steps): Promise<string[] | undefined> {
  const done = await listDone(db).catch(() => undefined);
  const newer = done?.filter((name) => !(name in steps)) ?? [];
  if (newer.length === 0) return done;
  throw new MigrationFailed(
    `The database was migrated by a newer version (it has ${newer.join(', ')}), and this version knows up to ` +
      `${Object.keys(steps).at(-1)}: start that version, or restore a backup of before.`,
  );
}

const latest = Object.keys(migrations).at(-1)!;

async function listDone(db: Db): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(db);
  return rows.map(({ name }) => name);
}

/** The migrations that the database still lacks, for an operator's command. */
export async function pendingMigrations(db: Db): Promise<string[]> {
  return pendingOf(await listDone(db), migrations);
}

const pendingOf = (done: readonly string[], steps: Steps): string[] =>
  Object.keys(steps).filter((name) => !done.includes(name));

/** What keeps the database from serving. */
export type DatabaseState = {
  /** Migrations that it lacks. */
  pending: string[];
  /** Migrations of a newer version that this one cannot serve on. */
  incompatible: string[];
  /** It takes no writes, as a standby does. */
  isReadOnly: boolean;
};

/**
 * The state of the database. It is queried by a write that changes nothing, because a connection on which that fails is
 * not reused.
 */
export async function readState(db: Db): Promise<DatabaseState> {
  try {
    const { rows } = await sql<{ name: string }>`
      with unchanged as (update kysely_migration set name = name where false)
      select name from kysely_migration order by name`.execute(db);
    const done = rows.map(({ name }) => name);
    return { pending: pendingOf(done, migrations), incompatible: done.filter(isIncompatible), isReadOnly: false };
  } catch (error) {
    if ((error as { code?: unknown }).code !== readOnlyTransaction) throw error;
    return { pending: [], incompatible: [], isReadOnly: true };
  }
}

/**
 * A migration is additive, so that code which does not know it serves on, unless its name says which migration that code
 * must know: `0031-drop-old-names-needs-0028`.
 */
function isIncompatible(name: string): boolean {
  const needed = /-needs-(\d{4})$/.exec(name)?.[1];
  return !(name in migrations) && needed !== undefined && latest.slice(0, 4) < needed;
}

const readOnlyTransaction = '25006';
