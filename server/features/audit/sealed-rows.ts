import { createHash } from 'node:crypto';
import { sql } from 'kysely';

/*
 * What a seal holds of each row: its identifier and the hash of everything in it, so that verification can name the row that was
 * changed, removed or inserted. An entry has 40 bytes: the identifier as a 64-bit number, then the hash.
 */

/**
 * The text of a row: a list of its columns, which PostgreSQL writes in one way only. It is what is hashed, so add nothing and change
 * nothing in it.
 */
export const rowText = sql`jsonb_build_array(
  a.company_id, a.xid, a.audit_id, a.at, a.account_id, a.employee_id, a.api_key_id, a.session_id, a.network, a.request_id,
  a.transport, a.operation, a.subject_kind, a.subject_id, a.changes, a.result, a.error_code, a.times
)::text`;

/** A row: its identifier and its text. */
export type RowText = readonly [id: number, text: string];

const entryBytes = 40;

export const hashRow = (text: string): Buffer => createHash('sha256').update(text).digest();

function toEntry([id, text]: RowText): Buffer {
  const entry = Buffer.alloc(entryBytes);
  entry.writeBigInt64BE(BigInt(id));
  hashRow(text).copy(entry, 8);
  return entry;
}

/** The entries of rows, in the order of their identifiers. */
export const toEntries = (rows: readonly RowText[]): Buffer[] => rows.toSorted(([a], [b]) => a - b).map(toEntry);

export function splitEntries(bytes: Buffer): Buffer[] {
  const count = Math.ceil(bytes.length / entryBytes);
  return Array.from({ length: count }, (_, index) => bytes.subarray(index * entryBytes, (index + 1) * entryBytes));
}

export type RowProblem = { kind: 'row changed' | 'row removed' | 'row inserted'; auditId: number };

export type Comparison = { problem: RowProblem | undefined; erasedRows: number };

/**
 * Compares the rows that were sealed with those that are there: the first difference, and how many rows are not what was sealed
 * because a person was erased from them.
 */
export function compareRows(
  sealed: readonly Buffer[],
  rows: readonly RowText[],
  erased: ReadonlyMap<number, ReadonlySet<string>> = new Map(),
): Comparison {
  const found = new Map(toEntries(rows).map((entry) => [entry.readBigInt64BE(), entry]));
  const problems: RowProblem[] = [];
  let erasedRows = 0;
  for (const entry of sealed) {
    const id = entry.readBigInt64BE();
    const present = found.get(id);
    const isErased = present !== undefined && erased.get(Number(id))?.has(present.toString('base64url', 8)) === true;
    if (!present) problems.push({ kind: 'row removed', auditId: Number(id) });
    else if (!present.equals(entry) && !isErased) problems.push({ kind: 'row changed', auditId: Number(id) });
    else if (!present.equals(entry)) erasedRows += 1;
    found.delete(id);
  }
  for (const id of found.keys()) problems.push({ kind: 'row inserted', auditId: Number(id) });
  return { problem: problems.toSorted((a, b) => a.auditId - b.auditId)[0], erasedRows };
}
