import type { Database } from '../../db/open.ts';
import { verifyCounts } from '../../db/derived/verify-counts.ts';
import { verifyTotals } from '../../db/derived/verify-work-time.ts';
import { print, runOnDatabase } from './support/operator-command.ts';
import { readFlags } from './support/read-flags.ts';

/*
 * For operators: recomputes every total of every company from its logs, projects, tasks, comments and notifications,
 * and prints what was compared and each total that differs. Changes nothing. A PostgreSQL server may be in use at the
 * same time; the embedded database belongs to one process, so the service must be stopped. Exits with 0 if all agree,
 * with 1 if not, with 2 on bad usage.
 */

const usage = `Recomputes the totals of all companies, and names each that differs. Changes nothing.

  npm run verify-totals
  npm run verify-totals -- --help

Takes the settings of the service, which may be running; with the embedded database it must be stopped.`;

async function verify(database: Database): Promise<number> {
  const companies = await database.acrossCompanies.db
    .selectFrom('companies')
    .select(['company_id', 'name'])
    .orderBy('company_id')
    .execute();
  let found = 0;
  for (const { company_id: companyId, name } of companies) {
    const { db } = database.forCompany(companyId);
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

if (readFlags(usage)) await runOnDatabase(process.env, async (database) => (await verify(database)) === 0);
