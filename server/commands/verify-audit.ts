import type { Database } from '../../db/open.ts';
import { verifyCompany } from '../features/audit/verify-company.ts';
import { noCompany } from '../kernel/audit-log.ts';
import type { Tokens } from '../platform/tokens.ts';
import { loadExistingTokens } from '../startup/load-tokens.ts';
import { print, runOnDatabase } from './support/operator-command.ts';
import { readFlags } from './support/read-flags.ts';

/*
 * For operators: verifies the audit log of each company, and prints the first row of each that was changed, removed or inserted.
 * Changes nothing, and needs the settings of the service, AUTH_KEYS included. A PostgreSQL server may be in use at the same time;
 * the embedded database belongs to one process, so the service must be stopped. Exits with 0 if all logs are intact, with 1 if
 * not, with 2 on bad usage.
 */

const usage = `Verifies the audit logs of all companies, and names the first row of each that was changed, removed or inserted. Changes nothing.

  npm run verify-audit
  npm run verify-audit -- --help

Takes the settings of the service, which may be running; with the embedded database it must be stopped.`;

async function verify(database: Database, tokens: Tokens): Promise<number> {
  const companies = await database.acrossCompanies.db
    .selectFrom('companies')
    .select('company_id')
    .orderBy('company_id')
    .execute();
  let found = 0;
  for (const companyId of [noCompany, ...companies.map((row) => row.company_id)]) {
    const { db } = database.forCompany(companyId);
    const { problem, checkedSeals, checkedRows, unsealedRows, lastSeal } = await verifyCompany(
      { db, tokens, companyId },
      {},
    );
    const name = companyId === noCompany ? 'No company' : `Company ${companyId}`;
    const head = lastSeal === null ? 'no seal yet' : `the last is ${lastSeal.seal}, ${lastSeal.hash}`;
    print(`${name}: ${checkedRows} rows under ${checkedSeals} seals (${head}), ${unsealedRows} rows not sealed yet`);
    if (problem === null) continue;
    found += 1;
    print(`  ${problem.kind}: ${problem.rowId === null ? '' : `row ${problem.rowId}, `}seal ${problem.seal}`);
  }
  print(
    `${companies.length} companies were checked, ${found === 0 ? 'all logs are intact' : `${found} logs are not intact`}.`,
  );
  return found;
}

if (readFlags(usage))
  await runOnDatabase(
    process.env,
    async (database, config) => (await verify(database, await loadExistingTokens(config))) === 0,
  );
