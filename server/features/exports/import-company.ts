import { sql } from 'kysely';
import { isReference, type Label, type Table } from '../../../db/catalogue.ts';
import { recomputeProjectTime, recomputeWorkDays } from '../../../db/derived/work-time.ts';
import type { Db } from '../../../db/open.ts';
import { writeOwnEntry } from '../../kernel/audit-log.ts';
import { enqueueJob } from '../../kernel/job.ts';
import { erasedAddress, erasedNames } from '../employees/erased.ts';
import { placesOf } from '../employees/plan-limit.ts';
import { searchTextOf } from '../employees/queries.ts';
import { mailInvitations } from '../memberships/invitation-mail.ts';
import { runsAtMostMs } from '../timers/close-timer.ts';
import { timerOverdue } from '../timers/jobs.ts';
import { checkedRow } from './checked-row.ts';
import { BadArchive, type Archive, type Row } from './read-archive.ts';
import { createNumbers, type Numbers } from './renumber.ts';
import { companyTables, exportedColumns } from './statements.ts';

/*
 * Imports the export of a company as a new company, in one transaction: one that is killed leaves nothing. Every row gets a new
 * number, in the order of the old ones, so a further export has the same lines with other numbers.
 *
 * - Derived tables are filled by their triggers, except what is summed from logs: that is recomputed when all logs are there, which
 *   takes a fraction of the time. `npm run verify-totals` agrees with both.
 * - A log keeps the rate that it has in the file.
 * - Rates, policies and approved periods come after the logs, which they would refuse or change.
 * - Nobody is signed in or linked to an account: active people are invited, and accept by a code to their address.
 */

export type Imported = { companyId: number; rows: number; invited: number };

type Settings = { appUrl: string };

type Options = {
  now: Date;
  settings: Settings;
  /** Whether invitations are mailed. Without it people can accept all the same. */
  sendsInvitations: boolean;
  onRows(table: Table, count: number): void;
};

/** Small enough to be one statement of moderate size: a picture may have 100 kB. */
const batchOf = (table: Table): number => (table === 'pictures' ? 50 : 2_000);

export async function importCompany(
  db: Db,
  archive: Archive,
  { now, settings, sendsInvitations, onRows }: Options,
): Promise<Imported> {
  await sql`select set_config('app.imports', 'on', true)`.execute(db);
  const target: Target = { db, companyId: await nextCompany(db), numbers: createNumbers(), settings };
  let rows = 0;
  for (const table of companyTables) {
    for await (const batch of batches(archive.rows(table), batchOf(table))) {
      await insertRows(target, table, batch);
      rows += batch.length;
      onRows(table, batch.length);
    }
    if (table === 'employees') await afterEmployees(target);
    if (table === 'task_logs') await sumLogs(target);
  }
  await setOwner(target);
  await requirePlaces(target);
  const invited = await enqueueWork(target, { now, sendsInvitations });
  await writeAudit(target, archive);
  return { companyId: target.companyId, rows, invited };
}

type Target = {
  db: Db;
  companyId: number;
  numbers: Numbers;
  settings: Settings;
  /** The owner's number in the file. */
  oldOwner?: unknown;
};

async function nextCompany(db: Db): Promise<number> {
  const [id] = await nextNumbers(db, 'companies', 'company_id', 1);
  return id!;
}

async function nextNumbers(db: Db, table: Table, column: string, count: number): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    select nextval(pg_get_serial_sequence(${table}, ${column})) as id from generate_series(1, ${count})`.execute(db);
  return rows.map(({ id }) => id);
}

type Line = { line: number; row: Row };

async function* batches(lines: AsyncIterable<Line>, size: number): AsyncGenerator<Line[]> {
  let batch: Line[] = [];
  for await (const line of lines) {
    batch.push(line);
    if (batch.length < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

async function insertRows(target: Target, table: Table, lines: Line[]): Promise<void> {
  const { db, companyId } = target;
  const labels = exportedColumns(table);
  const key = labels.find(([, label]) => label === 'id')?.[0];
  const ids = key === undefined ? [] : await nextNumbers(db, table, key, lines.length);
  const plans = table === 'subscriptions' ? await readPlans(db) : undefined;
  const rows = lines.map(({ line, row: given }, index) => {
    const where = `${table}.jsonl, line ${line}`;
    const row = checkedRow(table, given, where);
    const mapped: Row = { company_id: companyId };
    for (const [column, label] of labels) {
      if (label === 'id') {
        target.numbers.note(table, row[column], ids[index]!, where);
        mapped[column] = ids[index];
      }
      // Its owner is an employee, who comes later.
      else if (column === 'owner_id' && table === 'companies') target.oldOwner = row[column];
      else if (isReference(label) && label.table === 'plans') mapped[column] = planOf(plans!, row['plan'], where);
      else if (row[column] !== undefined) mapped[column] = mapValue(target, row[column], label, `${where}: ${column}`);
    }
    return complete(target, table, mapped);
  });
  await insert(db, table, rows, `${table}.jsonl, lines ${lines[0]!.line} to ${lines.at(-1)!.line}`);
}

function mapValue({ numbers, settings }: Target, value: unknown, label: Label, where: string): unknown {
  if (value === null) return null;
  if (isReference(label)) return numbers.of(label.table, value, where);
  return label === 'link' ? `${settings.appUrl}${numbers.inLink(value as string)}` : value;
}

/** Adds what a row needs beside its columns in the file. */
function complete(target: Target, table: Table, row: Row): Row {
  switch (table) {
    case 'employees':
      return withSearchText((row['erased_at'] ?? null) === null ? row : withErasedIdentity(row));
    case 'pictures':
      return { ...row, content: `\\x${Buffer.from(String(row['content']), 'base64').toString('hex')}` };
    case 'timesheet_periods':
      return { ...row, snapshot: snapshotOf(target, row['snapshot']) };
    case 'notifications':
      return { ...row, cause: `imported ${row['notification_id'] as number}` };
    default:
      return row;
  }
}

const withSearchText = (row: Row): Row => ({ ...row, search_text: searchTextOf(searchedOf(row)) });

/** Who was erased is called by their number: the old one may be that of somebody who is erased later. */
function withErasedIdentity(row: Row): Row {
  const id = row['employee_id'] as number;
  return { ...row, ...erasedNames(id), email: erasedAddress(id) };
}

function searchedOf(row: Row): { name: string; email: string; designation: string | null } {
  const {
    first_name: first,
    last_name: last,
    own_name: own,
    email,
    designation,
  } = row as Record<string, string | null>;
  return { name: own ?? `${first ?? ''} ${last ?? ''}`.trim(), email: email ?? '', designation: designation ?? null };
}

/** What a handed-in period contained, by day and project. */
function snapshotOf(target: Target, snapshot: unknown): unknown {
  if (!Array.isArray(snapshot)) throw new BadArchive('timesheet_periods.jsonl has a snapshot that is no list.');
  return snapshot.map((part: { projectId: unknown }) => ({
    ...part,
    projectId: target.numbers.of('projects', part.projectId, 'timesheet_periods.jsonl: snapshot'),
  }));
}

/** The classes of errors that the content of a row causes: it does not fit a type, or breaks a constraint. */
const ofContent = /^2[23]/;

async function insert(db: Db, table: Table, rows: Row[], where: string): Promise<void> {
  const columns = sql.join(Object.keys(rows[0]!).map((column) => sql.ref(column)));
  try {
    await sql`
      insert into ${sql.table(table)} (${columns}) overriding system value
      select ${columns} from jsonb_populate_recordset(null::${sql.table(table)}, ${JSON.stringify(rows)}::jsonb)`.execute(
      db,
    );
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    if (code === undefined || !ofContent.test(code)) throw error;
    throw new BadArchive(`${where} cannot be stored: ${message}.`, { cause: error });
  }
}

async function readPlans(db: Db): Promise<Map<string, number>> {
  const plans = await db.selectFrom('plans').select(['code', 'plan_id']).execute();
  return new Map(plans.map(({ code, plan_id: id }) => [code, id]));
}

function planOf(plans: Map<string, number>, code: unknown, where: string): number {
  const id = plans.get(String(code));
  if (id === undefined) throw new BadArchive(`${where} has a plan that this installation does not have.`);
  return id;
}

/** The counter of unread notifications that each employee has. */
async function afterEmployees({ db, companyId }: Target): Promise<void> {
  await sql`
    insert into notification_counts (company_id, employee_id)
    select company_id, employee_id from employees where company_id = ${companyId}`.execute(db);
}

async function sumLogs({ db, companyId }: Target): Promise<void> {
  // Plans would be those for a table of a few rows.
  await sql`analyze task_logs`.execute(db);
  await recomputeWorkDays(db, companyId);
  await recomputeProjectTime(db, companyId);
}

async function setOwner(target: Target): Promise<void> {
  const { db, companyId, oldOwner } = target;
  if (oldOwner === undefined || oldOwner === null) return;
  const owner = target.numbers.of('employees', oldOwner, 'companies.jsonl: owner_id');
  await db.updateTable('companies').set({ owner_id: owner }).where('company_id', '=', companyId).execute();
}

async function requirePlaces({ db, companyId }: Target): Promise<void> {
  const plan = await placesOf(db, companyId);
  if (plan && plan.active > plan.max_employees)
    throw new BadArchive(
      `The company has ${plan.active} active employees, and its plan ${plan.name} has ${plan.max_employees} places.`,
    );
}

/** Invites people, has running timers end, and drops what triggers have enqueued: nobody is told of old work. */
async function enqueueWork(
  { db, companyId }: Target,
  { now, sendsInvitations }: Pick<Options, 'now' | 'sendsInvitations'>,
): Promise<number> {
  await db.deleteFrom('jobs').where('waits_for_company', '=', companyId).execute();
  const timers = await db
    .selectFrom('timers')
    .where('company_id', '=', companyId)
    .select(['employee_id as employeeId', 'start_time as startedAt'])
    .execute();
  for (const { employeeId, startedAt } of timers)
    await enqueueJob(db, timerOverdue, {
      dedupeKey: `${companyId} ${employeeId} ${startedAt.toISOString()}`,
      payload: { companyId, employeeId },
      now,
      dueAt: new Date(startedAt.getTime() + runsAtMostMs),
    });
  const invited = await sql<{ id: number }>`
    insert into invitations (company_id, employee_id, email, mailed_at, created_at)
    select company_id, employee_id, email, ${sendsInvitations ? now : null}::timestamptz, ${now}
    from employees where company_id = ${companyId} and is_active and not is_deleted order by employee_id
    returning invitation_id as id`.execute(db);
  const ids = invited.rows.map(({ id }) => id);
  if (sendsInvitations) await mailInvitations(db, companyId, ids, now);
  return invited.rows.length;
}

async function writeAudit({ db, companyId }: Target, { manifest }: Archive): Promise<void> {
  const after = { exportedAt: manifest.exportedAt, exportedAs: manifest.company.id };
  const change = { event: 'company.imported', kind: 'company', id: companyId, before: null, after };
  await writeOwnEntry(db, { companyId, operation: 'import-company', change });
}
