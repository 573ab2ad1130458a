import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import { parseArgs } from 'node:util';
import { sql } from 'kysely';
import type { Database } from '../../db/open.ts';
import { removeCompany } from '../features/removal/remove-company.ts';
import { readDatabaseTime } from '../platform/database-clock.ts';
import type { Tokens } from '../platform/tokens.ts';
import { loadExistingTokens } from '../startup/load-tokens.ts';
import { print, runOnDatabase } from './support/operator-command.ts';

/*
 * For operators: removes a company with everything in it, for good. Exits with 0 if it is removed, with 1 if there is no such company,
 * it was not confirmed or something failed, and with 2 on bad usage. A removal that was interrupted goes on when it is run again.
 */

const usage = `Removes a company for good, with everything in it and the accounts of people who are in no other one.

  npm run remove-company -- <number>          shows what is in it, and asks for its name
  npm run remove-company -- <number> --yes    removes it without asking
  npm run remove-company -- --help

Take an export first, where its data may still be wanted: an admin of the company asks for one with POST /api/exports/.
Takes the settings of the service, which may be running; with the embedded database it must be stopped.`;

type Request = { companyId: number; isConfirmed: boolean };

function readRequest(given: string[]): Request | 'help' | undefined {
  try {
    const flag = { type: 'boolean', default: false } as const;
    const options = { help: { ...flag, short: 'h' }, yes: flag } as const;
    const { values, positionals } = parseArgs({ args: given, allowPositionals: true, options });
    if (values.help) return 'help';
    const [number = ''] = positionals;
    if (positionals.length !== 1 || !/^[1-9]\d{0,14}$/.test(number)) return undefined;
    return { companyId: Number(number), isConfirmed: values.yes };
  } catch {
    return undefined;
  }
}

async function countRows(database: Database, companyId: number): Promise<string> {
  const { rows } = await sql<Record<string, number>>`
    select (select count(*) from employees where company_id = ${companyId}) as people,
      (select count(*) from projects where company_id = ${companyId}) as projects,
      (select count(*) from tasks where company_id = ${companyId}) as tasks,
      (select count(*) from task_logs where company_id = ${companyId}) as logs,
      (select count(*) from comments where company_id = ${companyId}) as comments`.execute(
    database.forCompany(companyId).db,
  );
  return Object.entries(rows[0]!)
    .map(([name, count]) => `${count} ${name}`)
    .join(', ');
}

async function isConfirmedFor(name: string): Promise<boolean> {
  const prompt = createInterface({ input: process.stdin, output: process.stdout });
  // Ctrl-C and the end of the input close it, and leave the question without an answer.
  const closed = once(prompt, 'close').then(() => '');
  const answer = await Promise.race([prompt.question('Type the name of the company to remove it: '), closed]);
  prompt.close();
  return answer.trim() === name;
}

async function run(database: Database, tokens: Tokens, { companyId, isConfirmed }: Request): Promise<boolean> {
  const company = await database
    .forCompany(companyId)
    .db.selectFrom('companies')
    .where('company_id', '=', companyId)
    .select('name')
    .executeTakeFirst();
  if (!company) {
    print(`There is no company ${companyId}.`);
    return false;
  }
  print(`Company ${companyId}, ${company.name}: ${await countRows(database, companyId)}.`);
  print('It is removed for good. Take an export first, where its data may still be wanted: POST /api/exports/.');
  if (!isConfirmed && !(await isConfirmedFor(company.name))) {
    print('Nothing was removed.');
    return false;
  }
  const removal = { companyId, by: 'operator', now: await readDatabaseTime(database.owner.db) } as const;
  const isRemoved = await removeCompany({ database, tokens }, removal, {
    onProgress: (table, rows) => print(`  ${rows} rows of ${table}`),
  });
  print(
    isRemoved ? `Company ${companyId} is removed.` : `Company ${companyId} is removed: another process was faster.`,
  );
  return true;
}

const request = readRequest(process.argv.slice(2));
if (request === 'help') print(usage);
else if (request === undefined) {
  process.stderr.write(`${usage}\n`);
  process.exitCode = 2;
} else
  await runOnDatabase(process.env, async (database, config) =>
    run(database, await loadExistingTokens(config), request),
  );
