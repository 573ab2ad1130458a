import type { Db } from '../../db/open.ts';
import type { Context, Membership, RequestInfo } from './context.ts';
import type { Credential } from '../platform/credential.ts';
import { hasChanges, nobody, writeEntry, writeRows, type Actor, type Origin } from './audit-log.ts';
import type { AuditChange } from './audit-change.ts';
import type { Refusals } from './audit-refusals.ts';
import type { ApiError } from '../errors/api-error.ts';
import type { OperationMeta } from './operation.ts';
import { Concerning } from './security-log.ts';
import type { FindAddress, FindSubject } from './audit-subjects.ts';

/** What operations and the code that runs them need of the audit log. */
export type Audit = { findSubject: FindSubject; findAddress: FindAddress; refusals: Refusals };

/** A caller in any of the forms that operations receive: see context.ts. */
export type AuditedCaller = {
  credential: Credential;
  membership?: Membership | null;
  companyId?: number;
  employeeId?: number;
};

function actorOf(caller: AuditedCaller | undefined): Actor {
  if (!caller) return nobody;
  const { credential, membership, companyId, employeeId } = caller;
  return {
    companyId: companyId ?? membership?.companyId ?? null,
    accountId: credential.kind === 'session' ? credential.accountId : null,
    employeeId: employeeId ?? membership?.employeeId ?? null,
    apiKeyId: credential.kind === 'apiKey' ? credential.apiKeyId : null,
    sessionId: credential.kind === 'apiKey' ? null : credential.sessionId,
  };
}

const originOf = ({ network, id, transport }: RequestInfo, operation: string): Origin => ({
  network,
  requestId: id,
  transport,
  operation,
});

/** The statement that writes the rows of the audit log behind the last ones of a transaction, if it has any. */
export type WriteAudit = (db: Db) => (() => Promise<unknown>)[];

export const notAudited: WriteAudit = () => [];

/** Audits a mutation. The input is read only where no change names the subject. */
export function auditMutation(
  { request, services, caller }: Context & { caller?: AuditedCaller },
  operation: string,
  getRawInput: () => unknown,
): WriteAudit {
  // What the statements before it have noted is known when its turn comes.
  async function write(db: Db): Promise<void> {
    const subject = hasChanges(db) ? null : services.audit.findSubject(operation, await getRawInput());
    await writeRows(db, { actor: actorOf(caller), origin: originOf(request, operation), subject });
  }
  return (db) => [() => write(db)];
}

/** Audits a transaction of a job, where it has changed something that is audited. */
export function auditJob(name: string): WriteAudit {
  const origin: Origin = { network: null, requestId: null, transport: 'job', operation: name };
  return (db) => (hasChanges(db) ? [() => writeRows(db, { actor: nobody, origin, subject: null })] : []);
}

/** Audits what an OAuth client does at an address that is no operation, where it has changed something. */
export function auditClient(
  { request }: Context,
  operation: string,
  { companyId, apiKeyId }: { companyId: number; apiKeyId: number },
): WriteAudit {
  const call = { actor: { ...nobody, companyId, apiKeyId }, origin: originOf(request, operation), subject: null };
  return (db) => (hasChanges(db) ? [() => writeRows(db, call)] : []);
}

/** Audits that a caller takes a file, before its first piece is sent. A HEAD request takes none. */
export async function auditExport(
  ctx: Context & { caller: AuditedCaller & { companyId: number } },
  operation: string,
  asked: Record<string, unknown>,
): Promise<void> {
  const { caller, request, services } = ctx;
  if (request.isHead === true) return;
  const { companyId } = caller;
  const change: AuditChange = { event: 'file.exported', kind: 'company', id: companyId, before: null, after: asked };
  const subject = { kind: 'company', id: companyId };
  const { db } = services.database.forCompany(companyId);
  await writeEntry(db, { ...actorOf(caller), companyId, ...originOf(request, operation), subject, changes: [change] });
}

type RefusedCall = {
  operation: string;
  kind: 'query' | 'mutation' | 'subscription';
  meta: OperationMeta;
  caller: AuditedCaller | undefined;
  error: ApiError;
  getRawInput: () => unknown;
};

/** Notes a failed sign-in, and a call that a known caller may not make. */
export async function noteRefusal({ request, services }: Context, call: RefusedCall): Promise<void> {
  const { operation, caller, error } = call;
  if (!isNoted(call)) return;
  const input = await readInput(call.getRawInput);
  const { accountId, sessionId, apiKeyId } = (
    error.cause instanceof Concerning ? error.cause.fields : {}
  ) as Partial<Actor>;
  const concerned = caller
    ? {}
    : { accountId: accountId ?? null, sessionId: sessionId ?? null, apiKeyId: apiKeyId ?? null };
  services.audit.refusals.note({
    ...actorOf(caller),
    ...concerned,
    ...originOf(request, operation),
    subject: services.audit.findSubject(operation, input),
    errorCode: error.definition.code,
    email: caller === undefined ? services.audit.findAddress(operation, input) : null,
  });
}

function isNoted({ kind, meta, caller, error }: RefusedCall): boolean {
  const { status } = error.definition;
  if (caller === undefined) return meta.access === 'open' && (status === 401 || status === 403);
  return status === 403 || (status === 404 && (kind === 'mutation' || meta.access === 'admin'));
}

/** An input that cannot be read names nothing. */
async function readInput(getRawInput: () => unknown): Promise<Record<string, unknown>> {
  try {
    return ((await getRawInput()) ?? {}) as Record<string, unknown>;
  } catch {
    return {};
  }
}
