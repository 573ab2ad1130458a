import { sql } from 'kysely';
import { overrideLocks } from '../../../db/derived/period-locks.ts';
import type { Database, Db } from '../../../db/open.ts';
import { transact } from '../../../db/transaction.ts';
import { noCompany, writeOwnEntry } from '../../kernel/audit-log.ts';
import type { Services } from '../../kernel/context.ts';
import { eraseEntries } from '../audit/erase-entries.ts';
import { lockChain } from '../audit/seals.ts';
import { deleteUnusedAccounts, lockAccounts } from '../memberships/delete-account.ts';
import { listCompanyTables, type CompanyTable } from './company-tables.ts';

/*
 * Removes a company with everything in it, and the accounts of people who are in no other one. Invariants:
 *
 * - It begins with a row that says so (`removal_began_at`), from which on nobody is in the company, and ends with the company's row.
 *   In between each transaction deletes some hundred rows, so nobody waits for it, and a removal that is killed goes on later.
 * - The tables are those that have a `company_id`, so a new one cannot be forgotten. Rows that refer to others go first.
 * - It is done in the scope of the company, which shows no row of another one.
 * - The log of company 0 says which company was removed, by whom and why.
 */

/** Why a company is removed: its owner has closed it, or an operator removes it. */
export type Removal = { companyId: number; by: 'owner' | 'operator'; now: Date };

type Parts = { database: Database; tokens: Services['tokens'] };
type Watch = { signal?: AbortSignal; onProgress?: (table: string, rows: number) => void };

const rowsAtOnce = 500;

/** Companies whose time has come, or whose removal was interrupted. */
export async function listEndedCompanies(db: Db, now: Date): Promise<number[]> {
  const rows = await db
    .selectFrom('companies')
    .where('closes_at', '<=', now)
    .select('company_id')
    .orderBy('company_id')
    .execute();
  return rows.map(({ company_id: companyId }) => companyId);
}

/** Returns whether the company is gone: false if the owner has reopened it, or the signal ended the work. */
export async function removeCompany(parts: Parts, removal: Removal, watch: Watch = {}): Promise<boolean> {
  const { database } = parts;
  const { companyId } = removal;
  const { db } = database.forCompany(companyId);
  const company = await begin(db, removal);
  if (!company) return false;
  await eraseSignIns(parts, { ...removal, closedById: company.closed_by_id });
  const tables = await listCompanyTables(database.owner.db);
  // Until a round finds nothing: triggers count deleted rows into tables that were empty, and what was being written may appear late.
  for (let deleted = 1; deleted > 0;) {
    deleted = 0;
    for (const table of tables) {
      const rows = await emptyTable(database, table, companyId, watch);
      deleted += rows;
      if (rows > 0) watch.onProgress?.(table.name, rows);
      if (watch.signal?.aborted) return false;
    }
  }
  await deleteJobs(database.db, companyId);
  const auditRows = await deleteAuditLog(db, companyId, watch);
  if (watch.signal?.aborted) return false;
  if (auditRows > 0) watch.onProgress?.('audit_log', auditRows);
  return end(database, { ...company, ...removal });
}

type Company = { closed_at: Date; closed_by_id: number | null };

/** From here on the sessions and keys of the company are dead, and it cannot be reopened. */
async function begin(db: Db, { companyId, by, now }: Removal): Promise<Company | undefined> {
  const { rows } = await sql<Company>`
    update companies set owner_id = null, removal_began_at = coalesce(removal_began_at, ${now}),
      closed_at = coalesce(closed_at, ${now}), closes_at = least(closes_at, ${now})
    where company_id = ${companyId} and (${by}::text = 'operator' or closes_at <= ${now})
    returning closed_at, closed_by_id`.execute(db);
  return rows[0];
}

/** The log of no company has the failed sign-ins of accounts. */
async function eraseSignIns(
  { database, tokens }: Parts,
  { companyId, closedById, now }: Removal & { closedById: number | null },
): Promise<void> {
  // Accounts are those of any company, so that an account of two is known as such.
  const { rows } = await sql<{ account_id: number }>`
    select e.account_id from employees as e
    where e.company_id = ${companyId} and e.account_id is not null and not exists (
      select from employees as other where other.account_id = e.account_id and other.company_id <> ${companyId}
    )`.execute(database.acrossCompanies.db);
  const accountIds = rows.map(({ account_id: accountId }) => accountId);
  if (accountIds.length === 0) return;
  const about = { erased: { company: companyId, employee: null }, by: closedById, at: now.toISOString() };
  await eraseEntries({ database, tokens }, noCompany, {
    employeeId: null,
    accountIds,
    pattern: null,
    about,
    erase: (changes) => changes,
  });
}

async function emptyTable(database: Database, table: CompanyTable, companyId: number, watch: Watch): Promise<number> {
  let all = 0;
  for (let rows = rowsAtOnce; rows === rowsAtOnce && !watch.signal?.aborted; all += rows) {
    try {
      rows = await transact(database.forCompany(companyId), async (db) => {
        await overrideLocks(db);
        return table.name === 'employees' ? deletePeople(db, companyId) : deleteRows(db, table, companyId);
      });
    } catch (error) {
      if (!isReferred(error)) throw error;
      // By rows that a trigger has added since: the next round comes back to this table.
      return all;
    }
  }
  return all;
}

const isReferred = (error: unknown): boolean => (error as { code?: unknown }).code === '23503';

/** The newest first, because a row may refer to an older one of the same table. */
async function deleteRows(db: Db, { name, key }: CompanyTable, companyId: number): Promise<number> {
  const { rows } = await sql`
    with batch as materialized (
      select ctid from ${sql.table(name)} where company_id = ${companyId}
      order by ${sql.join(key.map((column) => sql`${sql.ref(column)} desc`))} limit ${sql.lit(rowsAtOnce)}
    )
    delete from ${sql.table(name)} as t where t.company_id = ${companyId} and t.ctid in (select ctid from batch)
    returning 1`.execute(db);
  return rows.length;
}

/** Employees, with the accounts that are then of nobody. */
async function deletePeople(db: Db, companyId: number): Promise<number> {
  const people = await db
    .selectFrom('employees')
    .where('company_id', '=', companyId)
    .select(['employee_id', 'account_id'])
    .orderBy('employee_id')
    .limit(rowsAtOnce)
    .execute();
  const ids = people.map(({ employee_id: id }) => id);
  const accountIds = people.flatMap(({ account_id: id }) => (id === null ? [] : [id]));
  await lockAccounts(db, accountIds);
  await sql`delete from employees where company_id = ${companyId} and employee_id = any(${ids}::bigint[])`.execute(db);
  await deleteUnusedAccounts(db, accountIds);
  return people.length;
}

/** What belongs to no table of the company, but to its work. */
async function deleteJobs(db: Db, companyId: number): Promise<void> {
  await sql`delete from jobs where payload ->> 'companyId' = ${String(companyId)}`.execute(db);
  await sql`delete from idempotent_answers where of_company = ${companyId}`.execute(db);
}

async function deleteAuditLog(db: Db, companyId: number, watch: Watch): Promise<number> {
  let all = 0;
  for (let rows = 1; rows > 0 && !watch.signal?.aborted; all += rows) {
    const answer = await sql<{ rows: number }>`
      select delete_audit_of_removed(${companyId}, ${sql.lit(rowsAtOnce)}) as rows`.execute(db);
    rows = answer.rows[0]!.rows;
  }
  return all;
}

/** Returns whether this process has removed it; another one may have been faster. */
async function end(database: Database, { companyId, by, now, ...company }: Removal & Company): Promise<boolean> {
  // The last row of the company, and that of company 0, which no scope of one company shows.
  return transact(database.acrossCompanies, async (db) => {
    // Nothing is sealed any more, and what was refused in the meantime is noted no longer.
    await lockChain(db, companyId);
    await deleteAuditLog(db, companyId, {});
    const removed = await db
      .deleteFrom('companies')
      .where('company_id', '=', companyId)
      .returning('company_id')
      .executeTakeFirst();
    if (!removed) return false;
    const after = { by, closedAt: company.closed_at, closedByEmployee: company.closed_by_id, removedAt: now };
    const change = { event: 'company.removed', kind: 'company', id: companyId, before: null, after };
    await writeOwnEntry(db, { companyId: noCompany, operation: 'company.remove', change });
    return true;
  });
}
