import { sql } from 'kysely';
import { compiled } from '../../db/pipeline/compiled.ts';
import type { Db } from '../../db/open.ts';
import { acrossCompanies, inCompany, transactionOf } from '../../db/scope.ts';
import type { NewEvent } from './append-event.ts';
import { toChange, type AuditChange, type Subject } from './audit-change.ts';

/*
 * The audit log has a row for each mutation, written by the code that runs its transaction as one of the last statements.
 * docs/audit.md says what is in a row; features/audit/ seals, verifies and lists them. Invariants:
 *
 * - A row is committed if and only if its mutation is. An operation that is declared as `notAudited` has none.
 * - The changes are those of the events of the transaction. What has no event, or must not be stored as it is, is noted.
 * - A transaction has one row in each company that it changes. Company 0 has what concerns no company.
 */

/** What concerns no company: sign-ins of people without one, and failures at addresses that nobody has. */
export const noCompany = 0;

export type Transport = 'rest' | 'trpc' | 'mcp' | 'job';

/** Who does something. */
export type Actor = {
  companyId: number | null;
  accountId: number | null;
  employeeId: number | null;
  apiKeyId: number | null;
  sessionId: number | null;
};

/** The service itself, or somebody who is not known. */
export const nobody: Actor = { companyId: null, accountId: null, employeeId: null, apiKeyId: null, sessionId: null };

/** Where a call came from, and what it asked for. */
export type Origin = { network: string | null; requestId: string | null; transport: Transport; operation: string };

export type AuditEntry = Actor & Origin & { subject: Subject | null; changes: AuditChange[] };

type Notes = { actor: Partial<Actor>; changes: { companyId: number; change: AuditChange }[] };
const notesOf = new WeakMap<Db, Notes>();

function notesIn(db: Db): Notes {
  const transaction = transactionOf(db);
  let notes = notesOf.get(transaction);
  if (!notes) notesOf.set(transaction, (notes = { actor: {}, changes: [] }));
  return notes;
}

/** Says who acts, where the transaction finds that out: a sign-in, a reset of a password. */
export function noteActor(db: Db, actor: Partial<Actor>): void {
  Object.assign(notesIn(db).actor, actor);
}

/** Notes a change that no event says. */
export function noteChange(db: Db, companyId: number, change: AuditChange): void {
  notesIn(db).changes.push({ companyId, change });
}

/** Notes the change that an event says; `append-event.ts` calls it for each. */
export function noteEvent(db: Db, event: NewEvent): void {
  const change = toChange(event);
  if (change) noteChange(db, event.companyId, change);
}

/** Whether the transaction has changed anything that is audited. */
export const hasChanges = (db: Db): boolean => (notesOf.get(transactionOf(db))?.changes.length ?? 0) > 0;

type Call = { actor: Actor; origin: Origin; subject: Subject | null };

/** Writes the rows of a transaction in one statement: one for each company that it changes. */
export async function writeRows(db: Db, { actor: caller, origin, subject }: Call): Promise<void> {
  const notes = notesOf.get(transactionOf(db));
  const actor = { ...caller, ...notes?.actor };
  const byCompany = Map.groupBy(notes?.changes ?? [], ({ companyId }) => companyId);
  const own = actor.companyId ?? (byCompany.size > 0 || actor.accountId !== null ? undefined : noCompany);
  const companies = own === undefined ? [...byCompany.keys()] : [...new Set([own, ...byCompany.keys()])];
  if (companies.length === 0) return insertForAccount(acrossCompanies(db), { ...actor, ...origin, subject });
  const entries = companies.map((companyId) => {
    const changes = (byCompany.get(companyId) ?? []).map(({ change }) => change);
    const who = { ...actor, companyId, employeeId: companyId === actor.companyId ? actor.employeeId : null };
    const [first] = changes;
    return { ...who, ...origin, subject: first ? { kind: first.kind, id: first.id } : subject, changes };
  });
  if (entries.length === 1) await writeEntry(db, entries[0]!);
  else await insertEntries(acrossCompanies(db), entries.map(valuesOf));
}

/** Writes one row, in a transaction or by itself. */
export async function writeEntry(db: Db, entry: AuditEntry & { companyId: number }): Promise<void> {
  const { companyId } = entry;
  await insertEntry(companyId === noCompany ? acrossCompanies(db) : inCompany(db, companyId), valuesOf(entry));
}

/** Writes the row of what the service or an operator does outside of a request. */
export async function writeOwnEntry(
  db: Db,
  { companyId, operation, change }: { companyId: number; operation: string; change: AuditChange },
): Promise<void> {
  const origin: Origin = { network: null, requestId: null, transport: 'job', operation };
  const subject = { kind: change.kind, id: change.id };
  await writeEntry(db, { ...nobody, ...origin, companyId, subject, changes: [change] });
}

function valuesOf({ subject, changes, ...others }: AuditEntry): Values {
  return { ...others, kind: subject?.kind ?? null, id: subject?.id ?? null, changes: JSON.stringify(changes) };
}

type Values = Actor & Origin & { kind: string | null; id: number | null; changes: string };

const insertEntry = compiled<Values, object>((db, value) =>
  sql<object>`
    insert into audit_log (
      company_id, xid, account_id, employee_id, api_key_id, session_id, network, request_id, transport, operation,
      subject_kind, subject_id, changes, result
    ) values (
      ${value('companyId')}, ${auditXid}, ${value('accountId')}, ${value('employeeId')}, ${value('apiKeyId')},
      ${value('sessionId')}, ${value('network')}, ${value('requestId')}, ${value('transport')}, ${value('operation')},
      ${value('kind')}, ${value('id')}, ${value('changes')}::jsonb, 'done'
    )`.compile(db),
);

/** The rows of one transaction in several companies. */
async function insertEntries(db: Db, entries: readonly Values[]): Promise<void> {
  await sql`
    insert into audit_log (
      company_id, xid, account_id, employee_id, api_key_id, session_id, network, request_id, transport, operation,
      subject_kind, subject_id, changes, result
    )
    select "companyId", ${auditXid}, "accountId", "employeeId", "apiKeyId", "sessionId", network, "requestId", transport,
      operation, kind, id, changes::jsonb, 'done'
    from jsonb_to_recordset(${JSON.stringify(entries)}::jsonb) as g (
      "companyId" bigint, "accountId" bigint, "employeeId" bigint, "apiKeyId" bigint, "sessionId" bigint, network text,
      "requestId" text, transport text, operation text, kind text, id bigint, changes text
    )`.execute(db);
}

/** The identifier of the running transaction, as rows have it: see 0026-audit-log. */
export const auditXid = sql`pg_current_xact_id()::text::bigint + (select xid_offset from audit_clock)`;

/** Writes what an account did to itself: in each company of which it is an employee, or else in none. */
async function insertForAccount(
  db: Db,
  { accountId, sessionId, network, requestId, transport, operation, subject }: Omit<AuditEntry, 'changes'>,
): Promise<void> {
  await sql`
    insert into audit_log (
      company_id, xid, account_id, employee_id, session_id, network, request_id, transport, operation,
      subject_kind, subject_id, changes, result
    )
    select coalesce(e.company_id, ${noCompany}), ${auditXid}, ${accountId}::bigint, e.employee_id, ${sessionId}::bigint,
      ${network}::text, ${requestId}::text, ${transport}::text, ${operation}::text,
      ${subject?.kind ?? null}::text, ${subject?.id ?? null}::bigint, '[]', 'done'
    from (values (1)) as once left join employees as e on e.account_id = ${accountId}::bigint and e.is_active and not e.is_deleted`.execute(
    db,
  );
}
