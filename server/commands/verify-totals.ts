import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pendingMigrations } from '../../db/migrate.ts';
import type { Db } from '../../db/open.ts';
import { CannotStart, toCannotStart } from '../cannot-start.ts';
import { readConfig, type Config } from '../config.ts';
import { verifyCounts } from '../features/statistics/verify-counts.ts';
import { verifyTotals } from '../features/task-logs/recompute.ts';
import { openDatabase } from '../start.ts';

/*
 * For operators: counts every total of every company anew from its logs, tasks, comments and notifications, says what was
 * held against what, and names each total that differs. Changes nothing. A PostgreSQL server may be in use meanwhile; the embedded database
 * belongs to one process, so the service must be stopped. Exits with 0 where all agree, else with 1.
 */

const print = (line: string) => void process.stdout.write(`${line}\n`);

async function open(config: Config) {
  const folder = resolve(config.DATA_DIR);
  if (config.DATABASE_URL === undefined && !existsSync(join(folder, 'database')))
    throw new CannotStart(`There is no database in ${folder}: set DATA_DIR or DATABASE_URL as for the service.`);
  return openDatabase(config, folder);
}

async function verify(db: Db): Promise<number> {
  // One that was never migrated has no list of what is pending.
  const pending = await pendingMigrations(db).catch(() => undefined);
  if (pending?.length !== 0)
    throw new CannotStart(
      'The database is not up to date with this version: start the service once, which sees to it.',
    );
  const companies = await db.selectFrom('companies').select(['company_id', 'name']).orderBy('company_id').execute();
  let found = 0;
  for (const { company_id: companyId, name } of companies) {
    const time = await verifyTotals(db, companyId);
    const counts = await verifyCounts(db, companyId);
    const differences = [...time.differences, ...counts.differences];
    const { logs, days, people, projects } = time.checked;
    const { tasks, comments, notifications } = counts.checked;
    const verdict = differences.length === 0 ? 'all agree' : `${differences.length} differ`;
    print(
      `${name} (${companyId}): ${logs} logs against ${days} days of work, the totals of ${people} people, of ${projects} projects and of each day; ` +
        `${tasks} tasks, ${comments} comments and ${notifications} notifications against their counts: ${verdict}`,
    );
    for (const { total, kept, counted } of differences) print(`  ${total}: ${kept} is kept, ${counted} is right`);
    found += differences.length;
  }
  print(`${companies.length} companies were checked, ${found} differences were found.`);
  return found;
}

let config: Config | undefined;
try {
  config = readConfig(process.env);
  const database = await open(config);
  try {
    process.exitCode = (await verify(database.db)) === 0 ? 0 : 1;
  } finally {
    await database.close();
  }
} catch (error) {
  const reason = config ? toCannotStart(error, config) : error;
  if (!(reason instanceof Error)) throw reason;
  process.stderr.write(`${reason.message}\n`);
  process.exitCode = 1;
}
