import { sql } from 'kysely';
import type { Database, Db } from '../../../db/open.ts';
import { transact } from '../../../db/transaction.ts';
import type { Services } from '../../kernel/context.ts';
import { writeOwnEntry } from '../../kernel/audit-log.ts';
import { hashStatement } from './statement.ts';

/*
 * Old rows are deleted with their seals, whole seals only. A row of the log says so, with a signed proof: verification accepts a
 * chain that begins later only with the proof of the seal before its first one.
 */

export const retentionKind = 'audit-retention';
export const retentionOperation = 'audit.retention';

/** What the service states of the last seal that it has deleted. */
export type RetentionStatement = { company: number; seal: number; hash: string };

/** At most this many seals are deleted by one transaction. */
const sealsMax = 500;

/** The companies whose oldest seal was made before a moment, and is not their only one. */
export async function listExpired(db: Db, before: Date): Promise<number[]> {
  const { rows } = await sql<{ company_id: number }>`
    select c.company_id
    from (select 0::bigint as company_id union all select company_id from companies) as c
    where (
      select s.sealed_at < ${before} and exists (
        select from audit_seals as later where later.company_id = c.company_id and later.seal_id > s.seal_id
      )
      from audit_seals as s where s.company_id = c.company_id order by s.seal_id limit 1
    )
    order by 1`.execute(db);
  return rows.map((row) => row.company_id);
}

type Deleted = { first_seal: number; last_seal: number; deleted_rows: number; last_statement: string };

/** Deletes a company's oldest seals, of before a moment, with their rows; returns how many rows those were. */
export async function deleteExpired(
  { database, tokens }: { database: Database; tokens: Services['tokens'] },
  companyId: number,
  before: Date,
): Promise<number> {
  return transact(database.forCompany(companyId), async (db) => {
    const { rows } = await sql<Deleted>`
      select first_seal, last_seal, deleted_rows, last_statement
      from delete_sealed_audit(${companyId}, ${before}, ${sealsMax})`.execute(db);
    const [deleted] = rows;
    if (deleted) await auditDeletion(db, tokens, companyId, deleted);
    return deleted?.deleted_rows ?? 0;
  });
}

async function auditDeletion(
  db: Db,
  tokens: Services['tokens'],
  companyId: number,
  { first_seal: firstSeal, last_seal: lastSeal, deleted_rows: rows, last_statement: last }: Deleted,
): Promise<void> {
  const statement: RetentionStatement = { company: companyId, seal: lastSeal, hash: hashStatement(last) };
  const proof = await tokens.statements.sign(retentionKind, statement);
  const subject = { kind: 'audit_seal', id: lastSeal };
  const change = { event: 'audit.deleted', ...subject, before: { firstSeal, lastSeal, rows }, after: { proof } };
  await writeOwnEntry(db, { companyId, operation: retentionOperation, change });
}
