import { sql } from 'kysely';
import type { Database } from '../../db/open.ts';
import type { Log } from '../platform/log.ts';
import { auditXid, noCompany, nobody, type Actor, type Origin } from './audit-log.ts';
import type { Subject } from './audit-change.ts';

/*
 * Refused calls in the audit log. They change nothing and have no transaction, so they are written after the answer, in batches. A
 * flood of them must not become a flood of rows. Invariants:
 *
 * - The same refusal of the same caller is one row for each batch, with how many `times` it happened.
 * - A batch has at most `rowsMax` rows of one company, and `strangersMax` of callers without one. What goes beyond that is counted
 *   in one row, of the operation `*`.
 * - A refusal that cannot be stored loses no other one of its batch.
 * - Each node writes at most one batch in `intervalMs`. A process that is killed loses the refusals of that time.
 */
const intervalMs = 5_000;
const rowsMax = 20;
const strangersMax = 200;
/** Different refusals that wait. */
const waitingMax = 1_000;

/** A refused call. Without a company it is that of the account, the address or the session, if one of them is known. */
export type Refusal = Actor & Origin & { subject: Subject | null; errorCode: string; email: string | null };

export type Refusals = {
  note(refusal: Refusal): void;
  /** Writes what waits. */
  flush(): Promise<void>;
};

type Waiting = Refusal & { times: number };

export function createRefusals({ database, log }: { database: Database; log: Log }): Refusals {
  let waiting = new Map<string, Waiting>();
  let timer: NodeJS.Timeout | undefined;
  let flushing: Promise<void> = Promise.resolve();

  async function write(batch: Waiting[]): Promise<void> {
    try {
      // Accounts and sessions are looked up to find their companies.
      await insertRefusals(database.acrossCompanies.db, batch);
    } catch (error) {
      // A batch is one statement, so a row that cannot be stored would lose all others.
      if (batch.length > 1 && isOfContent(error)) for (const refusal of batch) await write([refusal]);
      else log.error({ err: error, refusals: batch.length }, 'refused calls could not be written to the audit log');
    }
  }

  async function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    const batch = [...waiting.values()];
    waiting = new Map();
    if (batch.length > 0) flushing = flushing.then(() => write(batch));
    await flushing;
  }

  return {
    note(refusal) {
      const kept = [...waiting.values()].filter(({ companyId }) => companyId === refusal.companyId).length;
      const isTooMany = kept >= (refusal.companyId === null ? strangersMax : rowsMax) || waiting.size >= waitingMax;
      const key = keyOf(refusal);
      const known = waiting.get(key) ?? (isTooMany ? waiting.get(keyOf(others(refusal))) : undefined);
      if (known) known.times += 1;
      else {
        const added = isTooMany ? others(refusal) : refusal;
        waiting.set(keyOf(added), { ...added, times: 1 });
      }
      timer ??= setTimeout(() => void flush(), intervalMs).unref();
    },
    flush,
  };
}

/** SQLSTATE classes of values that cannot be stored. */
const isOfContent = (error: unknown): boolean => /^2[23]/.test(String((error as { code?: unknown }).code));

const keyOf = (refusal: Refusal): string => JSON.stringify({ ...refusal, requestId: null });

/** What stands for further refusals of a company. */
const others = ({ companyId, transport }: Refusal): Refusal => ({
  ...nobody,
  companyId: companyId ?? noCompany,
  network: null,
  requestId: null,
  transport,
  operation: '*',
  subject: null,
  errorCode: 'TOO_MANY_REFUSALS',
  email: null,
});

/** A refusal at an account concerns each company of which it is an employee, and company 0 if there is none. */
async function insertRefusals(db: Database['db'], batch: readonly Waiting[]): Promise<void> {
  const inOrder = batch.map((refusal, position) => ({ ...refusal, position }));
  await sql`
    with given as materialized (
      select * from jsonb_to_recordset(${JSON.stringify(inOrder)}::jsonb) as g (
        position integer,         "companyId" bigint, "accountId" bigint, "employeeId" bigint, "apiKeyId" bigint, "sessionId" bigint, network text,
        "requestId" text, transport text, operation text, subject jsonb, "errorCode" text, email text, times integer
      )
    ), known as (
      select g.*, coalesce(
        g."accountId",
        (select a.account_id from accounts as a where a.email = g.email),
        (select s.account_id from sessions as s where s.session_id = g."sessionId")
      ) as account
      from given as g
    )
    insert into audit_log (
      company_id, xid, account_id, employee_id, api_key_id, session_id, network, request_id, transport, operation,
      subject_kind, subject_id, changes, result, error_code, times
    )
    select coalesce(k."companyId", e.company_id, ${noCompany}), ${auditXid}, k.account, coalesce(k."employeeId", e.employee_id),
      k."apiKeyId", k."sessionId", k.network, k."requestId", k.transport, k.operation,
      k.subject ->> 'kind', (k.subject ->> 'id')::bigint, '[]', 'refused', k."errorCode", k.times
    from known as k left join employees as e
      on k."companyId" is null and e.account_id = k.account and e.is_active and not e.is_deleted
    -- A company that was removed in the meantime has no log.
    where coalesce(k."companyId", ${noCompany}) = ${noCompany} or exists (
      select from companies as c where c.company_id = k."companyId"
    )
    order by k.position, e.company_id`.execute(db);
}
