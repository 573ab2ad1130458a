import { parseArgs } from 'node:util';
import { sql } from 'kysely';
import { BadArchive, openArchive, type Archive } from '../features/exports/read-archive.ts';
import { importCompany, type Imported } from '../features/exports/import-company.ts';
import type { Database } from '../../db/open.ts';
import type { Table } from '../../db/catalogue.ts';
import type { Config } from '../config.ts';
import { appUrlOf, isDemoOn, reachable } from '../startup/addresses.ts';
import { print, runOnDatabase } from './support/operator-command.ts';

/*
 * For operators: imports the export of a company as a new company. A PostgreSQL server may be in use at the same time; the embedded
 * database belongs to one process, so the service must be stopped. It runs in one transaction: one that ends early leaves
 * nothing. Exits with 0 if the company was imported, with 1 if the file was refused, with 2 on bad usage.
 */

const usage = `Imports the export of a company (POST /api/exports/) as a new company.

  npm run import-company -- <file.zip>                        imports it
  npm run import-company -- <file.zip> --check                does the same and takes it back: says whether it would work
  npm run import-company -- <file.zip> --send-invitations     imports it, and mails an invitation to everybody active
  npm run import-company -- --help

Takes the settings of the service, which may be running; with the embedded database it must be stopped.`;

type Request = { file: string; isCheck: boolean; sendsInvitations: boolean };

function readRequest(): Request | 'help' | 'bad usage' {
  const flag = { type: 'boolean', default: false } as const;
  const options = { help: { ...flag, short: 'h' }, check: flag, 'send-invitations': flag } as const;
  try {
    const { values, positionals } = parseArgs({ allowPositionals: true, options });
    if (values.help) return 'help';
    const [file, ...others] = positionals;
    if (file === undefined || others.length > 0) return 'bad usage';
    return { file, isCheck: values.check, sendsInvitations: values['send-invitations'] };
  } catch {
    return 'bad usage';
  }
}

async function run(database: Database, config: Config, request: Request): Promise<boolean> {
  let archive: Archive | undefined;
  try {
    archive = await openArchive(request.file);
    const { manifest } = archive;
    const total = manifest.tables.reduce((sum, { rows }) => sum + rows, 0);
    print(`${manifest.company.name}, exported at ${manifest.exportedAt}: ${total} rows`);
    report(await importFrom(database, config, request, archive), request);
    return true;
  } catch (error) {
    if (!(error instanceof BadArchive)) throw error;
    process.stderr.write(`${error.message} Nothing was imported.\n`);
    return false;
  } finally {
    archive?.close();
  }
}

async function importFrom(
  { owner, kind }: Database,
  config: Config,
  { isCheck, sendsInvitations }: Request,
  archive: Archive,
): Promise<Imported> {
  const transaction = owner.begin();
  const progress = createProgress();
  const publicUrl = config.PUBLIC_URL ?? `http://${reachable(config.HOST)}:${config.PORT}`;
  try {
    const imported = await importCompany(transaction.db, archive, {
      now: new Date(),
      // As the service has it.
      settings: { appUrl: appUrlOf(config, { publicUrl, hasDemoPage: isDemoOn(config) }) },
      sendsInvitations,
      onRows: progress,
    });
    if (isCheck) await transaction.rollback();
    else await transaction.commit();
    // A server does this by itself.
    if (kind === 'embedded' && !isCheck) await sql`analyze`.execute(owner.db);
    return imported;
  } catch (error) {
    await transaction.rollback();
    throw error;
  }
}

const progressMs = 5_000;

/** Prints every few seconds where it is. */
function createProgress(): (table: Table, count: number) => void {
  let rows = 0;
  let printedAt = performance.now();
  return (table, count) => {
    rows += count;
    if (performance.now() - printedAt < progressMs) return;
    printedAt = performance.now();
    print(`  ${rows} rows, now ${table}`);
  };
}

function report({ companyId, rows, invited }: Imported, { isCheck, sendsInvitations }: Request): void {
  if (isCheck) return print(`It can be imported: all ${rows} rows were stored, and taken back.`);
  print(`It is company ${companyId} now, with ${rows} rows.`);
  print(
    sendsInvitations
      ? `${invited} people are mailed an invitation.`
      : `${invited} people are invited: each signs in with a code that is mailed to their address.`,
  );
}

const request = readRequest();
if (request === 'help') print(usage);
else if (request === 'bad usage') {
  process.stderr.write(`${usage}\n`);
  process.exitCode = 2;
} else await runOnDatabase(process.env, (database, config) => run(database, config, request));
