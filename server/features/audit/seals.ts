import { sql } from 'kysely';
import type { Database, Db } from '../../../db/open.ts';
import { transact } from '../../../db/transaction.ts';
import type { Services } from '../../kernel/context.ts';
import { noCompany } from '../../kernel/audit-log.ts';
import { findUnsealedErasures, type SealedErasures } from './erasures.ts';
import { merkleRoot } from './merkle.ts';
import { rowText, toEntries } from './sealed-rows.ts';
import { hashStatement } from './statement.ts';

/*
 * Seals make the audit log tamper-evident; docs/audit.md says what they prove. Invariants:
 *
 * - Each company has a chain of seals, numbered from 1. A seal covers the rows from one transaction identifier to another, where
 *   the next seal begins, so each row that was ever sealed, or slipped in behind a seal, is in the range of exactly one.
 * - A seal ends before the oldest transaction that still runs. So all of its transactions have ended, and no row can appear in it.
 * - Its statement has the Merkle root of the rows and the hash of the statement before, and is signed with the service's key.
 * - One process seals a company at a time: it holds an advisory lock until the seal is committed.
 */

/** More rows of a company are sealed by several seals. */
const rowsMax = 5_000;

export const sealKind = 'audit-seal';

/** What a seal states, signed. */
export type SealStatement = {
  company: number;
  seal: number;
  from: number;
  to: number;
  rows: number;
  /** The Merkle root over the entries of the rows, in base64url. */
  root: string;
  /** The hash of the statement before; null in the first seal. */
  previous: string | null;
  /** The statements of erased rows that are new since the last seal which has some: see erasures.ts. */
  erasures?: SealedErasures;
  at: string;
};

type Parts = { database: Database; tokens: Services['tokens'] };

/** Rows of transactions before this one are complete. */
const completeBefore = sql`
  (select pg_snapshot_xmin(pg_current_snapshot())::text::bigint + xid_offset from audit_clock)`;

/** The companies that have complete rows without a seal. */
export async function listUnsealedCompanies(db: Db): Promise<number[]> {
  const { rows } = await sql<{ company_id: number }>`
    select c.company_id
    from (select ${noCompany}::bigint as company_id union all select company_id from companies) as c
    where exists (
      select from audit_log as a
      where a.company_id = c.company_id and a.xid < ${completeBefore} and a.xid >= coalesce((
        select s.to_xid from audit_seals as s where s.company_id = c.company_id order by s.seal_id desc limit 1
      ), 0)
    )
    order by 1`.execute(db);
  return rows.map((row) => row.company_id);
}

/** Adds one seal to a company's chain; returns the number of its rows, 0 if there was nothing to seal. */
export async function sealCompany({ database, tokens }: Parts, companyId: number): Promise<number> {
  return transact(database.forCompany(companyId), async (db) =>
    (await tryLockChain(db, companyId)) ? addSeal(db, tokens, companyId) : 0,
  );
}

/** False while another process seals the company. */
async function tryLockChain(db: Db, companyId: number): Promise<boolean> {
  const { rows } = await sql<{ locked: boolean }>`
    select pg_try_advisory_xact_lock(${chainLock(companyId)}) as locked`.execute(db);
  return rows[0]!.locked;
}

/** Keeps others from sealing the company until the transaction ends. */
export async function lockChain(db: Db, companyId: number): Promise<void> {
  await sql`select pg_advisory_xact_lock(${chainLock(companyId)})`.execute(db);
}

const chainLock = (companyId: number) => sql`hashtextextended(${`audit seals ${companyId}`}, 0)`;

async function addSeal(db: Db, tokens: Services['tokens'], companyId: number): Promise<number> {
  const last = await db
    .selectFrom('audit_seals')
    .where('company_id', '=', companyId)
    .select(['seal_id', 'to_xid', 'statement'])
    .orderBy('seal_id', 'desc')
    .limit(1)
    .executeTakeFirst();
  const from = last?.to_xid ?? 0;
  const { rows: found } = await sql<{ xid: number; id: number; text: string; bound: number; now: Date }>`
    select a.xid, a.audit_id as id, ${rowText} as text, ${completeBefore} as bound, clock_timestamp() as now
    from audit_log as a
    where a.company_id = ${companyId} and a.xid >= ${from} and a.xid < ${completeBefore}
    order by a.xid fetch first ${sql.lit(rowsMax)} rows with ties`.execute(db);
  if (found.length === 0) return 0;
  const { bound, now } = found[0]!;
  const erasures = await findUnsealedErasures(db, tokens, companyId);
  const entries = toEntries(found.map(({ id, text }) => [id, text]));
  const statement: SealStatement = {
    company: companyId,
    seal: (last?.seal_id ?? 0) + 1,
    from,
    to: found.length < rowsMax ? bound : found.at(-1)!.xid + 1,
    rows: found.length,
    root: merkleRoot(entries).toString('base64url'),
    previous: last ? hashStatement(last.statement) : null,
    ...(erasures && { erasures }),
    at: now.toISOString(),
  };
  await db
    .insertInto('audit_seals')
    .values({
      company_id: companyId,
      seal_id: statement.seal,
      from_xid: statement.from,
      to_xid: statement.to,
      row_count: statement.rows,
      entries: Buffer.concat(entries),
      statement: await tokens.statements.sign(sealKind, statement),
      sealed_at: now,
      erasures_to: erasures?.to ?? null,
    })
    .execute();
  return found.length;
}
