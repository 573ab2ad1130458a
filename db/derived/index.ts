import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { setLimits } from '../lock-retries.ts';
import type { Db } from '../transaction.ts';
import { amounts } from './amounts.ts';
import { commentCounts } from './comment-counts.ts';
import { notificationCounts } from './notification-counts.ts';
import { periodLocks } from './period-locks.ts';
import { taskCounts } from './task-counts.ts';
import { workTime } from './work-time.ts';

/*
 * Derived data: sums and counts that would take too long to compute when they are read. Triggers maintain them in the
 * transaction of each change, so an operation writes its own rows and nothing else. Invariants:
 *
 * - No statement of the service writes a derived table, except for those next to each definition: the recomputation, and
 *   what locks days that an import is about to need.
 * - While a company is imported (`app.imports`) the triggers of logs rest, and the import recomputes what they keep.
 * - A definition is a function and its triggers. They are installed after the migrations if they differ from the
 *   installed ones.
 * - Triggers run with the rights of the tables' owner: the rows that fire them have passed row-level security, and
 *   functions that run in one role keep their plans.
 * - Locks are taken in this order: tasks, task logs, the company's row, employees, projects by id, advisory locks on the days of
 *   the company and of its employees by id, `timesheet_periods`, `company_days` and its shards by day, `projects.logged_seconds` by id, `project_amounts` by id, the
 *   recipient's `notification_counts`, event streams (those of changes right before COMMIT, by company and name), with each the company's
 *   webhooks that want it, in share, and at COMMIT `comment_counts`.
 * - `npm run verify-totals` recomputes everything and compares.
 */

const definitions = { periodLocks, workTime, amounts, taskCounts, commentCounts, notificationCounts };

/** The advisory lock that serializes processes which install definitions at once. */
const lockKey = 7_210_020;

const hashOf = (statements: readonly string[]): string =>
  createHash('sha256').update(statements.join(';')).digest('hex');

/** Installs definitions that are missing or outdated in the database: all, or those with the given names. */
export async function installDerived(db: Db, names = Object.keys(definitions)): Promise<void> {
  if ((await listOutdated(db, names)).length === 0) return;
  await db.transaction().execute(async (transaction) => {
    await sql`select pg_advisory_xact_lock(${lockKey})`.execute(transaction);
    await setLimits(transaction);
    for (const name of await listOutdated(transaction, names)) {
      for (const statement of definitions[name]) await sql.raw(statement).execute(transaction);
      const row = { name, hash: hashOf(definitions[name]) };
      await transaction
        .insertInto('derived_definitions')
        .values(row)
        .onConflict((conflict) => conflict.column('name').doUpdateSet({ hash: row.hash }))
        .execute();
    }
  });
}

async function listOutdated(db: Db, asked: readonly string[]): Promise<(keyof typeof definitions)[]> {
  const installed = await db.selectFrom('derived_definitions').select(['name', 'hash']).execute();
  const hashes = new Map(installed.map(({ name, hash }) => [name, hash]));
  const names = Object.keys(definitions) as (keyof typeof definitions)[];
  return names.filter((name) => asked.includes(name) && hashes.get(name) !== hashOf(definitions[name]));
}
