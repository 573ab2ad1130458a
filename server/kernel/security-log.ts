import type { Caller, Context } from './context.ts';
import type { ApiError } from '../errors/api-error.ts';
import type { SecurityAct } from './operation.ts';

/*
 * The security log: one line for each refused call and each act on an account, a session or a key, with the field
 * `security`. It names people and credentials by identifier only: no address, no secret, and of another company's
 * things no more than the caller sent.
 */

type Fields = Record<string, string | number | null | undefined>;

/** The person that a refused call concerns, if the caller is unknown; passed as the cause of the API error. */
export class Concerning extends Error {
  readonly fields: Fields;

  constructor(fields: Fields) {
    super('for the security log');
    this.fields = fields;
  }
}

/** Writes one line: the event, the person, the network and the request. */
export function logSecurity({ services, request }: Context, event: string, fields: Fields): void {
  services.log.info({ security: event, ...fields, network: request.network, requestId: request.id }, event);
}

/**
 * Logs the success of an operation on an account, a session or a key; `input` tells which, unless it is the caller's.
 */
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

/** Logs a refused call: a missing credential or right, something that the caller may not see, or too many requests. */
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

/** Numbers only: text may be an address or a secret. */
function identifiersIn(input: unknown): Fields {
  const named = Object.entries((input ?? {}) as Record<string, unknown>).filter(
    ([name, value]) => name.endsWith('_id') && typeof value === 'number',
  );
  return Object.fromEntries(named.map(([name, value]) => [`given_${name}`, value as number]));
}
