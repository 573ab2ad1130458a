import { sql, type Selectable } from 'kysely';
import type { Db } from '../../../db/open.ts';
import type { Schema } from '../../../db/schema.ts';
import type { AuditEntryRecord } from './schemas.ts';

/** Which rows of a company. Those of `to` are not among them. */
export type Filters = {
  companyId: number;
  employeeId?: number;
  operation?: string;
  subject?: { kind: string; id: number | undefined };
  from?: Date;
  to?: Date;
};

/** The place of a row in the list: its transaction, then its number. */
export type Position = { xid: number; id: number };

type Row = Omit<Selectable<Schema['audit_log']>, 'company_id' | 'transport' | 'changes' | 'result'> &
  Pick<AuditEntryRecord, 'transport' | 'changes' | 'result'>;

const fromTheTop: Position = { xid: Number.MAX_SAFE_INTEGER, id: 0 };

/** The next rows behind a position, the newest first. */
export async function listEntries(
  db: Db,
  { companyId, employeeId, operation, subject, from, to }: Filters,
  { before = fromTheTop, limit }: { before: Position | undefined; limit: number },
): Promise<{ entries: AuditEntryRecord[]; last: Position | undefined }> {
  const { rows } = await sql<Row>`
    select xid, audit_id, at, account_id, employee_id, api_key_id, session_id, network, request_id, transport, operation,
      subject_kind, subject_id, changes, result, error_code, times
    from audit_log
    where company_id = ${companyId}
      and (xid, audit_id) < (${before.xid}::bigint, ${before.id}::bigint)
      and (${employeeId ?? null}::bigint is null or employee_id = ${employeeId ?? null}::bigint)
      and (${operation ?? null}::text is null or operation = ${operation ?? null}::text)
      and (${subject?.kind ?? null}::text is null or subject_kind = ${subject?.kind ?? null}::text)
      and (${subject?.id ?? null}::bigint is null or subject_id = ${subject?.id ?? null}::bigint)
      and (${from ?? null}::timestamptz is null or at >= ${from ?? null}::timestamptz)
      and (${to ?? null}::timestamptz is null or at < ${to ?? null}::timestamptz)
    order by xid desc, audit_id desc limit ${limit}`.execute(db);
  const last = rows.at(-1);
  return { entries: rows.map(toEntry), last: last && { xid: last.xid, id: last.audit_id } };
}

const toEntry = (row: Row): AuditEntryRecord => ({
  _id: row.audit_id,
  at: row.at,
  operation: row.operation,
  result: row.result,
  errorCode: row.error_code,
  times: row.times,
  employee_id: row.employee_id,
  accountId: row.account_id,
  apiKeyId: row.api_key_id,
  sessionId: row.session_id,
  network: row.network,
  requestId: row.request_id,
  transport: row.transport,
  subject: row.subject_kind === null ? null : { kind: row.subject_kind, id: row.subject_id },
  changes: row.changes,
});

const rowsAtOnce = 500;

/** All rows behind each other, a batch at a time, so that no connection waits for a reader. */
export async function* batchesOf(db: Db, filters: Filters): AsyncGenerator<AuditEntryRecord[]> {
  for (let before: Position | undefined; ;) {
    const { entries, last } = await listEntries(db, filters, { before, limit: rowsAtOnce });
    if (entries.length > 0) yield entries;
    if (entries.length < rowsAtOnce) return;
    before = last;
  }
}
