import type { Caller, Context } from './context.ts';
import type { ApiError } from '../errors/api-error.ts';
import type { SecurityAct } from './operation.ts';

/*
 * The security log: one line of the log for each refusal and each act that concerns an account, a session or a key, told
 * by its field `security`. It names people and credentials by identifier alone: no address, no secret, and of what belongs to
 * another company not more than the caller sent.
 */

type Fields = Record<string, string | number | null | undefined>;

/** Who a refusal concerns, where the caller is not known: for the security log, as the cause of a definition. */
export class Concerning extends Error {
  readonly fields: Fields;

  constructor(fields: Fields) {
    super('for the security log');
    this.fields = fields;
  }
}

/** One line: what happened, to whom, from where, in which request. */
export function logSecurity({ services, request }: Context, event: string, fields: Fields): void {
  services.log.info({ security: event, ...fields, network: request.network, requestId: request.id }, event);
}

/** An operation that concerns an account, a session or a key was done; `input` says which, where it is not the caller's. */
export function logAct(
  ctx: Context,
  act: SecurityAct,
  operation: string,
  caller: Caller | undefined,
  done: { input: unknown; data: unknown },
): void {
  const { event, made } = typeof act === 'string' ? { event: act, made: undefined } : act;
  logSecurity(ctx, event, {
    operation,
    ...identifiersOf(caller),
    ...identifiersIn(done.input),
    ...(made === undefined ? {} : { [made]: (done.data as { _id: number })._id }),
  });
}

/** A call was refused: for want of a credential or a right, for what is not the caller's to see, or for asking too often. */
export function logError(ctx: Context, operation: string, caller: Caller | undefined, error: ApiError): void {
  const { definition, issues, cause } = error;
  const isRelevant =
    [401, 403, 404, 429].includes(definition.status) || issues?.some(({ code }) => code === 'not_found') === true;
  if (!isRelevant) return;
  logSecurity(ctx, 'refused', {
    operation,
    code: definition.code,
    status: definition.status,
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
