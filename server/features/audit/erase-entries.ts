import { sql } from 'kysely';
import type { Database, Db } from '../../../db/open.ts';
import { transact } from '../../../db/transaction.ts';
import type { Services } from '../../kernel/context.ts';
import { replaceRows, type ErasedRow, type ErasureStatement } from './erasures.ts';
import { lockChain } from './seals.ts';

/** Whose values are erased: rows of the employee and of the account lose where they came from. */
export type ErasedPerson = {
  employeeId: number | null;
  accountIds: readonly number[];
  /** Texts with the person, as a regular expression of PostgreSQL; null if none are looked for. */
  pattern: string | null;
  erase(changes: unknown): unknown;
};

type Parts = { database: Database; tokens: Services['tokens'] };
type Row = { xid: number; id: number; changes: unknown; is_own: boolean; has_origin: boolean };
type Place = Pick<Row, 'xid' | 'id'>;

/** So many rows of the log are looked at by one transaction. */
const rowsAtOnce = 5_000;

/** Erases a person from the log of a company, or from that of no company. Doing it again changes nothing more. */
export async function eraseEntries(
  { database, tokens }: Parts,
  companyId: number,
  { about, ...person }: ErasedPerson & { about: Pick<ErasureStatement, 'erased' | 'by' | 'at'> },
): Promise<void> {
  for (let place: Place | undefined = { xid: 0, id: 0 }; place;) {
    const after: Place = place;
    place = await transact(database.forCompany(companyId), async (db) => {
      await lockChain(db, companyId);
      const upto = await findEnd(db, companyId, after);
      const rows = await listConcerned(db, companyId, { after, upto }, person);
      const erased = rows.flatMap((row) => eraseRow(row, person));
      if (erased.length > 0) await replaceRows(db, tokens, companyId, { ...about, rows: erased });
      return upto;
    });
  }
}

async function findEnd(db: Db, companyId: number, after: Place): Promise<Place | undefined> {
  const { rows } = await sql<Place>`
    select xid, audit_id as id from audit_log
    where company_id = ${companyId} and (xid, audit_id) > (${after.xid}::bigint, ${after.id}::bigint)
    order by xid, audit_id offset ${sql.lit(rowsAtOnce - 1)} limit 1`.execute(db);
  return rows[0];
}

async function listConcerned(
  db: Db,
  companyId: number,
  { after, upto }: { after: Place; upto: Place | undefined },
  { employeeId, accountIds, pattern }: ErasedPerson,
): Promise<Row[]> {
  // An OAuth client that ends its access is the person's, and says so only by the key that ends.
  const theirKey = sql`jsonb_build_object('kind', 'api_key', 'after', jsonb_build_object('userId', ${employeeId}::bigint))`;
  const isOwn = sql<boolean>`(coalesce(employee_id = ${employeeId}::bigint, false)
    or coalesce(account_id = any(${accountIds}::bigint[]), false)
    or employee_id is null and changes @> jsonb_build_array(${theirKey}))`;
  const { rows } = await sql<Row>`
    select xid, audit_id as id, changes, ${isOwn} as is_own,
      network is not null or request_id is not null as has_origin
    from audit_log
    where company_id = ${companyId} and (xid, audit_id) > (${after.xid}::bigint, ${after.id}::bigint)
      and (${upto?.xid ?? null}::bigint is null
        or (xid, audit_id) <= (${upto?.xid ?? null}::bigint, ${upto?.id ?? null}::bigint))
      and (
        ${isOwn} or (subject_kind = 'employee' and subject_id = ${employeeId}::bigint)
        or changes @> jsonb_build_array(jsonb_build_object('kind', 'employee', 'id', ${employeeId}::bigint))
        or changes @> jsonb_build_array(jsonb_build_object('kind', 'api_key'))
        or changes::text ~* ${pattern}::text
      )
    order by xid, audit_id`.execute(db);
  return rows;
}

/** The row as it is to be; none if it is so already. */
function eraseRow(
  { xid, id, changes, is_own: isOwn, has_origin: hasOrigin }: Row,
  { erase }: ErasedPerson,
): ErasedRow[] {
  const without = erase(changes);
  const isOriginErased = isOwn && hasOrigin;
  if (!isOriginErased && JSON.stringify(without) === JSON.stringify(changes)) return [];
  return [{ xid, id, changes: without, isOriginErased }];
}
