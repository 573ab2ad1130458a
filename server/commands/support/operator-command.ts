import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { FolderInUse } from '../../../db/folder-lock.ts';
import { pendingMigrations } from '../../../db/migrate.ts';
import type { Database, Db } from '../../../db/open.ts';
import { CannotStart, toCannotStart } from '../../startup/cannot-start.ts';
import { readConfig, type Config } from '../../config.ts';
import { openDatabase } from '../../startup/open-database.ts';

/**
 * Runs a command of an operator on the database that the settings name. A PostgreSQL server may be in use at the same time; the
 * embedded database belongs to one process, so the service must be stopped. The process exits with 0 where the body
 * answers true, else with 1; what stands in the way is said in one sentence.
 */
export async function runOnDatabase(
  environment: NodeJS.ProcessEnv,
  body: (database: Database) => Promise<boolean>,
): Promise<void> {
  process.umask(0o077);
  // The reader of the output may have closed it (`… | head`): the work goes on.
  process.stdout.on('error', () => {});
  let config: Config | undefined;
  try {
    config = readConfig(environment);
    const database = await open(config);
    try {
      await requireCurrent(database.owner.db);
      process.exitCode = (await body(database)) ? 0 : 1;
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

async function open(config: Config): Promise<Database> {
  const folder = resolve(config.DATA_DIR);
  if (config.DATABASE_URL === undefined && !existsSync(join(folder, 'database')))
    throw new CannotStart(`There is no database in ${folder}: set DATA_DIR or DATABASE_URL as for the service.`);
  return openDatabase(config, folder).catch((error: unknown) => {
    if (!(error instanceof FolderInUse)) throw error;
    throw new CannotStart(
      `The embedded database in ${error.folder} is in use by ${error.holder}, and belongs to one process at a time: stop the service, run this again, then start the service.`,
    );
  });
}

async function requireCurrent(db: Db): Promise<void> {
  // One that was never migrated has no list of what is pending.
  const pending = await pendingMigrations(db).catch(() => undefined);
  if (pending?.length !== 0)
    throw new CannotStart(
      'The database is not up to date with this version: start the service once, which sees to it.',
    );
}
