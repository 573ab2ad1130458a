import type { Caller, Context } from './context.ts';
import type { FaultError } from './fault.ts';

/*
 * The security log: one line of the log for each refusal and each act that concerns an account, a session or a key, told
 * by its field `security`. It names people and credentials by identifier alone: no address, no secret, and of what belongs to
 * another company not more than the caller sent.
 */

type Fields = Record<string, string | number | null | undefined>;

/** Who a refusal concerns, where the caller is not known: for the security log, as the cause of a fault. */
export class Concerning extends Error {
  readonly fields: Fields;

  constructor(fields: Fields) {
    super('for the security log');
    this.fields = fields;
  }
}

/** What the success of these operations is called; a sign-in is told where the session begins, whichever way it came. */
const acts: Record<string, string> = {
  'auth.logout': 'signed out',
  'auth.verifyEmail': 'code requested',
  'registration.requestCode': 'code requested',
  'passwords.requestReset': 'reset link requested',
  'passwords.reset': 'password reset',
  'passwords.change': 'password changed',
  'apiKeys.create': 'key made',
  'apiKeys.revoke': 'key revoked',
  'sessions.end': 'session ended',
  'invitations.accept': 'invitation accepted',
  'invitations.decline': 'invitation declined',
  'employees.endSessions': 'sessions ended by an admin',
  'employees.endApiKeys': 'keys revoked by an admin',
};

export const securityActs: readonly string[] = Object.keys(acts);
export const isSecurityAct = (operation: string): boolean => operation in acts;

/** One line: what happened, to whom, from where, in which request. */
export function logSecurity({ services, request }: Context, event: string, fields: Fields): void {
  services.log.info({ security: event, ...fields, network: request.network, requestId: request.id }, event);
}

/** An operation that concerns an account, a session or a key was done; `input` says which, where it is not the caller's. */
export function logAct(
  ctx: Context,
  operation: string,
  caller: Caller | undefined,
  done: { input: unknown; data: unknown },
): void {
  logSecurity(ctx, acts[operation]!, {
    operation,
    ...identifiersOf(caller),
    ...identifiersIn(done.input),
    ...(operation === 'apiKeys.create' ? { apiKeyMade: (done.data as { _id: number })._id } : {}),
  });
}

/** A call was refused: for want of a credential or a right, for what is not the caller's to see, or for asking too often. */
export function logRefusal(ctx: Context, operation: string, caller: Caller | undefined, refusal: FaultError): void {
  const { fault, issues, cause } = refusal;
  const isRelevant =
    [401, 403, 404, 429].includes(fault.status) || issues?.some(({ code }) => code === 'not_found') === true;
  if (!isRelevant) return;
  logSecurity(ctx, 'refused', {
    operation,
    code: fault.code,
    status: fault.status,
    ...identifiersOf(caller),
    ...(cause instanceof Concerning ? cause.fields : {}),
  });
}

function identifiersOf(caller: Caller | undefined): Fields {
  if (!caller) return {};
  const { credential, membership } = caller;
  return {
    ...(credential.kind === 'session' ? { accountId: credential.accountId } : {}),
    ...(credential.kind === 'apiKey' ? { apiKeyId: credential.apiKeyId } : { sessionId: credential.sessionId }),
    ...(membership ? { companyId: membership.companyId, employeeId: membership.employeeId } : {}),
  };
}

/** Numbers alone: text may be an address or a secret. */
function identifiersIn(input: unknown): Fields {
  const named = Object.entries((input ?? {}) as Record<string, unknown>).filter(
    ([name, value]) => name.endsWith('_id') && typeof value === 'number',
  );
  return Object.fromEntries(named.map(([name, value]) => [`given_${name}`, value as number]));
}
