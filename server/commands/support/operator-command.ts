import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { FolderInUse } from '../../../db/folder-lock.ts';
import { pendingMigrations } from '../../../db/migrate.ts';
import type { Database, Db } from '../../../db/open.ts';
import { CannotStart, toCannotStart } from '../../startup/cannot-start.ts';
import { readConfig, type Config } from '../../config.ts';
import { openDatabase } from '../../startup/open-database.ts';

/**
 * Runs an operator's command on the database of the settings. A PostgreSQL server may be in use at the same time; the
 * embedded database belongs to one process, so the service must be stopped. The process exits with 0 if the body
 * returns true, else with 1; an obstacle is reported in one sentence. The database is up to date, unless the body sees to that.
 * Without `hasTimeLimit` the connection waits for a statement as long as that takes.
 */
export async function runOnDatabase(
  environment: NodeJS.ProcessEnv,
  body: (database: Database, config: Config) => Promise<boolean>,
  { mayBeOutdated = false, hasTimeLimit = true } = {},
): Promise<void> {
  process.umask(0o077);
  // The reader of the output may have closed it (`… | head`): the work continues.
  process.stdout.on('error', () => {});
  let config: Config | undefined;
  try {
    config = readConfig(environment);
    const database = await open(config, hasTimeLimit);
    try {
      if (!mayBeOutdated) await requireCurrent(database.owner.db);
      process.exitCode = (await body(database, config)) ? 0 : 1;
    } finally {
      await database.close();
    }
  } catch (error) {
    const reason = config ? toCannotStart(error, config) : error;
    if (!(reason instanceof Error)) throw reason;
    process.stderr.write(`${reason.message}\n`);
    process.exitCode = 1;
  }
}

export const print = (line: string): void => void process.stdout.write(`${line}\n`);

async function open(config: Config, hasTimeLimit: boolean): Promise<Database> {
  const folder = resolve(config.DATA_DIR);
  if (config.DATABASE_URL === undefined && !existsSync(join(folder, 'database')))
    throw new CannotStart(`There is no database in ${folder}: set DATA_DIR or DATABASE_URL as for the service.`);
  return openDatabase(config, folder, { hasTimeLimit }).catch((error: unknown) => {
    if (!(error instanceof FolderInUse)) throw error;
    throw new CannotStart(
      `The embedded database in ${error.folder} is in use by ${error.holder}, and belongs to one process at a time: stop the service, run this again, then start the service.`,
    );
  });
}

async function requireCurrent(db: Db): Promise<void> {
  // A database that was never migrated has no list of pending migrations.
  const pending = await pendingMigrations(db).catch(() => undefined);
  if (pending?.length !== 0)
    throw new CannotStart(
      'The database is not up to date with this version: run `npm run migrate`, or start the service once.',
    );
}
