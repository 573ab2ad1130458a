import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { Db } from '../../../db/open.ts';
import type { Services } from '../../kernel/context.ts';

import { hashRow, rowText } from './sealed-rows.ts';
import { hashStatement, payloadOf } from './statement.ts';

/*
 * Rows of the audit log lose the values of a person who is erased; who did what, and when, stays. The service states which rows
 * it has changed, and signs that: verification accepts a row that differs from its seal only with such a statement. The next seal has the hash of new statements, which proves them when their key is gone, as it does with
 * seals. Statements name numbers and hashes, nothing of the person.
 */

const erasureKind = 'audit-erasure';

/** What the service states of rows that it has changed. */
export type ErasureStatement = {
  company: number;
  /** Who was erased: an employee, also where the log is that of no company, or all people of a company that was removed. */
  erased: { company: number; employee: number | null };
  /** Who did it. */
  by: number | null;
  at: string;
  /** Rows with the hash of what they are since. */
  rows: [id: number, hash: string][];
};

export type ErasedRow = { xid: number; id: number; changes: unknown; isOriginErased: boolean };

/** Replaces rows of a log, and states it, in the transaction that has locked the chain. */
export async function replaceRows(
  db: Db,
  tokens: Services['tokens'],
  companyId: number,
  { rows, ...about }: Omit<ErasureStatement, 'company' | 'rows'> & { rows: ErasedRow[] },
): Promise<void> {
  const ids = rows.map(({ id }) => id);
  const xids = rows.map(({ xid }) => xid);
  await sql`
    select erase_audit_rows(
      ${companyId}, ${xids}::bigint[], ${ids}::bigint[], ${rows.map(({ changes }) => JSON.stringify(changes))}::text[],
      ${rows.map(({ isOriginErased }) => isOriginErased)}::boolean[]
    )`.execute(db);
  const { rows: found } = await sql<{ id: number; text: string }>`
    select a.audit_id as id, ${rowText} as text from audit_log as a
    join unnest(${xids}::bigint[], ${ids}::bigint[]) as g (xid, id) on a.xid = g.xid and a.audit_id = g.id
    where a.company_id = ${companyId} order by a.audit_id`.execute(db);
  const stated = found.map(({ id, text }): [number, string] => [id, hashRow(text).toString('base64url')]);
  const statement: ErasureStatement = { company: companyId, ...about, rows: stated };
  await db
    .insertInto('audit_erasures')
    .values({ company_id: companyId, statement: await tokens.statements.sign(erasureKind, statement) })
    .execute();
}

/** The statements that a seal covers, by their numbers, and their hash. */
export type SealedErasures = { after: number; to: number; hash: string };

type Stored = { erasure_id: number; statement: string };

const hashAll = (stored: readonly Stored[]): string =>
  createHash('sha256')
    .update(stored.map(({ erasure_id: id, statement }) => `${id} ${hashStatement(statement)}\n`).join(''))
    .digest('base64url');

async function listErasures(db: Db, companyId: number, after: number, to: number): Promise<Stored[]> {
  return db
    .selectFrom('audit_erasures')
    .where('company_id', '=', companyId)
    .where('erasure_id', '>', after)
    .where('erasure_id', '<=', to)
    .select(['erasure_id', 'statement'])
    .orderBy('erasure_id')
    .execute();
}

/** The statements that no seal covers yet, for the next one; undefined if there are none, or one that the service has not signed. */
export async function findUnsealedErasures(
  db: Db,
  tokens: Services['tokens'],
  companyId: number,
): Promise<SealedErasures | undefined> {
  const last = await db
    .selectFrom('audit_seals')
    .where('company_id', '=', companyId)
    .where('erasures_to', 'is not', null)
    .select('erasures_to')
    .orderBy('seal_id', 'desc')
    .limit(1)
    .executeTakeFirst();
  const after = last?.erasures_to ?? 0;
  const stored = await listErasures(db, companyId, after, Number.MAX_SAFE_INTEGER);
  if (stored.length === 0) return undefined;
  for (const { statement } of stored)
    if (typeof (await tokens.statements.verify(erasureKind, statement)) === 'string') return undefined;
  return { after, to: stored.at(-1)!.erasure_id, hash: hashAll(stored) };
}

/** What rows may be instead of what was sealed: the hashes of each row that was erased, once or more often. */
export type Erasures = ReadonlyMap<number, ReadonlySet<string>>;

/** The rows of a company that the service has erased, by statements that it has signed. */
export async function readErasures(db: Db, tokens: Services['tokens'], companyId: number): Promise<Erasures> {
  const erased = new Map<number, Set<string>>();
  for (const stored of await listErasures(db, companyId, 0, Number.MAX_SAFE_INTEGER)) {
    const { statement } = stored;
    const proof = await tokens.statements.verify(erasureKind, statement);
    const isProved = typeof proof === 'object' || (proof === 'unknown key' && (await isSealed(db, companyId, stored)));
    const stated = isProved ? payloadOf<ErasureStatement>(statement) : undefined;
    if (stated?.company === companyId)
      for (const [id, hash] of stated.rows ?? []) erased.set(id, (erased.get(id) ?? new Set()).add(hash));
  }
  return erased;
}

/** Whether a seal covers a statement whose key is gone. That the seal is one is verified with its chain. */
async function isSealed(db: Db, companyId: number, { erasure_id: erasureId }: Stored): Promise<boolean> {
  const seal = await db
    .selectFrom('audit_seals')
    .where('company_id', '=', companyId)
    .where('erasures_to', '>=', erasureId)
    .select('statement')
    .orderBy('seal_id')
    .limit(1)
    .executeTakeFirst();
  const sealed = seal && payloadOf<{ erasures: SealedErasures }>(seal.statement)?.erasures;
  if (!sealed || sealed.after >= erasureId) return false;
  return hashAll(await listErasures(db, companyId, sealed.after, sealed.to)) === sealed.hash;
}
