import { TRPCError } from '@trpc/server';
import { ZodError } from 'zod';
import { defineError, ApiError, type ErrorDetails } from './api-error.ts';
import { toIssues, type Issue, type IssueCode } from './issues.ts';

/* The errors that any operation may answer. Those of one feature are in its errors.ts. */

export const VALIDATION_FAILED = defineError(
  'VALIDATION_FAILED',
  'BAD_REQUEST',
  'The input is not valid; `issues` names each field and what is wrong with it.',
);
export const MALFORMED_JSON = defineError('MALFORMED_JSON', 'BAD_REQUEST', 'The body is not valid JSON.');
export const MALFORMED_REQUEST = defineError('MALFORMED_REQUEST', 'BAD_REQUEST', 'The request is not valid HTTP.');
export const UNAUTHENTICATED = defineError(
  'UNAUTHENTICATED',
  'UNAUTHORIZED',
  'This operation needs a sign-in: send the access token as `Authorization: Bearer` and the refresh token as `X-Refresh-Token`.',
);
export const TOKEN_PAIR_REQUIRED = defineError(
  'TOKEN_PAIR_REQUIRED',
  'UNAUTHORIZED',
  'The access token and the refresh token of one session must be sent together.',
);
export const INVALID_TOKEN = defineError(
  'INVALID_TOKEN',
  'UNAUTHORIZED',
  'The token is not valid or has expired: sign in again.',
);
export const SESSION_ENDED = defineError('SESSION_ENDED', 'UNAUTHORIZED', 'This session has ended: sign in again.');
export const FORBIDDEN = defineError('FORBIDDEN', 'FORBIDDEN', 'You may not do this.');
export const ADMIN_REQUIRED = defineError('ADMIN_REQUIRED', 'FORBIDDEN', 'Only an admin of the company may do this.');
export const COMPANY_CLOSED = defineError(
  'COMPANY_CLOSED',
  'CONFLICT',
  'The company is closed: until it is removed it can be read and exported, but not changed. Its owner can reopen it with POST /api/company/{company_id}/reopen/.',
);
export const COMPANY_REQUIRED = defineError(
  'COMPANY_REQUIRED',
  'FORBIDDEN',
  'This session belongs to no company: register one first.',
);
export const SESSION_BOUND = defineError(
  'SESSION_BOUND',
  'FORBIDDEN',
  'An API key of the company opened this session, so it has no account: sign in as yourself for this.',
);
export const SESSION_REQUIRED = defineError('SESSION_REQUIRED', 'FORBIDDEN', 'An API key may not do this: sign in.');
export const SCOPE_REQUIRED = defineError(
  'SCOPE_REQUIRED',
  'FORBIDDEN',
  'The API key lacks a scope that this operation needs; `missingScopes` names it.',
);
export const NOT_FOUND = defineError('NOT_FOUND', 'NOT_FOUND', 'There is no such thing here.');
export const ROUTE_NOT_FOUND = defineError(
  'ROUTE_NOT_FOUND',
  'NOT_FOUND',
  'No operation has this path: compare it with the reference at /docs, letter by letter.',
);
export const METHOD_NOT_ALLOWED = defineError(
  'METHOD_NOT_ALLOWED',
  'METHOD_NOT_SUPPORTED',
  'This path does not take this method; `Allow` lists those that it takes.',
);
export const REQUEST_TIMEOUT = defineError(
  'REQUEST_TIMEOUT',
  'TIMEOUT',
  'The request did not come in time: nothing of its body came for 10 seconds, or not all of it in a minute.',
);
export const EXPECTATION_FAILED = defineError(
  'EXPECTATION_FAILED',
  'PRECONDITION_FAILED',
  'The service meets no `Expect` but `100-continue`.',
);
export const BODY_TOO_LARGE = defineError(
  'BODY_TOO_LARGE',
  'PAYLOAD_TOO_LARGE',
  'The body is larger than this operation takes.',
);
export const UNSUPPORTED_MEDIA_TYPE = defineError(
  'UNSUPPORTED_MEDIA_TYPE',
  'UNSUPPORTED_MEDIA_TYPE',
  'Bodies are JSON in UTF-8: send `Content-Type: application/json`, and no `Content-Encoding`.',
);
export const IDEMPOTENCY_KEY_IN_USE = defineError(
  'IDEMPOTENCY_KEY_IN_USE',
  'CONFLICT',
  'The first request with this Idempotency-Key is still running: try again shortly.',
);
export const IDEMPOTENCY_KEY_REUSED = defineError(
  'IDEMPOTENCY_KEY_REUSED',
  'UNPROCESSABLE_CONTENT',
  'This Idempotency-Key was used with another body: take a new key.',
);
export const RATE_LIMITED = defineError(
  'RATE_LIMITED',
  'TOO_MANY_REQUESTS',
  'Too many requests: wait as long as `Retry-After` says.',
);
export const TOO_MANY_CONNECTIONS = defineError(
  'TOO_MANY_CONNECTIONS',
  'TOO_MANY_REQUESTS',
  'Too many connections are open for this caller: close some, or use one for all subscriptions.',
);
export const TOO_MANY_SUBSCRIPTIONS = defineError(
  'TOO_MANY_SUBSCRIPTIONS',
  'TOO_MANY_REQUESTS',
  'Too many subscriptions run on this connection: end some first.',
);
export const PERIOD_LOCKED = defineError(
  'PERIOD_LOCKED',
  'CONFLICT',
  'The time of these days is handed in, or too old to be changed: have an admin reopen the period, or change single logs with an override.',
);
export const INTERNAL_ERROR = defineError(
  'INTERNAL_ERROR',
  'INTERNAL_SERVER_ERROR',
  'Something went wrong on our side. Nothing was changed; quote the requestId when you report it.',
);
export const SERVICE_UNAVAILABLE = defineError(
  'SERVICE_UNAVAILABLE',
  'SERVICE_UNAVAILABLE',
  'The service cannot answer right now: try again shortly.',
);
export const OVERLOADED = defineError(
  'OVERLOADED',
  'SERVICE_UNAVAILABLE',
  'The service has more to do than it can right now: try again shortly.',
);

/** An invalid input, with a sentence that summarizes the issues. */
export function validationFailed(issues: Issue[]): ApiError {
  const shown = issues
    .slice(0, 3)
    .map(({ path, message }) => `${path.length === 0 ? 'The input' : path.join('.')} ${message}`);
  const more = issues.length > shown.length ? [`${issues.length - shown.length} more`] : [];
  return VALIDATION_FAILED({ issues, detail: `${[...shown, ...more].join('; ')}.` });
}

/**
 * The caller named something in a body or query that their company does not have, whether it is absent or another
 * company's.
 */
export function notFoundIn(...path: (string | number)[]): ApiError {
  return validationFailed([notFoundIssue(...path)]);
}

/** The same among other issues. */
export function notFoundIssue(...path: (string | number)[]): Issue {
  return { path, message: 'names nothing in your company', code: 'not_found' };
}

/** An employee in a body who must be active: the same for one who is not, one of another company and none at all. */
export function notActiveIn(...path: (string | number)[]): ApiError {
  return validationFailed([notActiveIssue(...path)]);
}

/** The same among other issues. */
export function notActiveIssue(...path: (string | number)[]): Issue {
  return { path, message: 'is no active employee of your company', code: 'not_found' };
}

/** A violated rule that a schema cannot express, such as one across fields. */
export function invalid(path: (string | number)[], message: string, code: IssueCode): ApiError {
  return validationFailed([{ path, message, code }]);
}

/** The error with each of its issues replaced; the sentence for an invalid input follows them. */
export function withIssues(error: ApiError, replace: (issue: Issue) => Issue): ApiError {
  if (!error.issues) return error;
  const issues = error.issues.map(replace);
  if (error.definition === VALIDATION_FAILED) return validationFailed(issues);
  return new ApiError(error.definition, { detail: error.message, issues, cause: error.cause });
}

/** SQLSTATE classes and codes of a server that is away, refuses this sign-in, shuts down, is read-only (just after a failover), out of room or out of time. */
const passingFailure = /^(08|28|3D|53|57P0|57014|55P03|40001|40P01|25P03|25006)/;
const brokenConnection =
  /ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|timeout|terminated|Connection|not queryable|already been destroyed|invalid response|message from backend/;

/** The SQLSTATE of an error. None begins with E, as Node's codes do. */
function sqlState(error: unknown): string | undefined {
  const { code } = (error ?? {}) as { code?: unknown };
  return error instanceof Error && typeof code === 'string' && /^[0-9A-DF-Z][0-9A-Z]{4}$/.test(code) ? code : undefined;
}

function isDatabaseAway(error: unknown): boolean {
  const state = sqlState(error);
  if (state !== undefined) return passingFailure.test(state);
  if (error instanceof AggregateError) return error.errors.some(isDatabaseAway);
  if (!(error instanceof Error)) return false;
  return brokenConnection.test(`${(error as NodeJS.ErrnoException).code ?? ''} ${error.message}`);
}

/** The SQLSTATE of a change of locked days: db/derived/period-locks.ts raises it, with the days as its detail. */
const lockedDaysState = 'WM001';

/** A day whose time must not change, from its first moment to that of the next one. */
type LockedDay = { day: string; day_start: string; day_end: string };

/** The locked days that a change was refused for; undefined for any other error. */
export function findLockedDays(error: unknown): LockedDay[] | undefined {
  if (sqlState(error) !== lockedDaysState) return undefined;
  return JSON.parse((error as { detail?: string }).detail!) as LockedDay[];
}

/** The error for locked days, which it names; `issues` say where in the input they are. */
export function periodLocked(
  days: readonly string[],
  { issues, cause, detail = PERIOD_LOCKED.sentence }: Pick<ErrorDetails, 'issues' | 'cause' | 'detail'> = {},
): ApiError {
  const named = [...new Set(days)].toSorted();
  const shown = named.slice(0, lockedDaysShown).join(', ');
  const more = named.length > lockedDaysShown ? ` and ${named.length - lockedDaysShown} more` : '';
  return PERIOD_LOCKED({
    detail: `${detail} Locked: ${shown}${more}.`,
    issues: issues ?? named.map((day) => ({ path: [], message: `${day} is locked`, code: 'locked' })),
    cause,
  });
}

const lockedDaysShown = 31;

/** What a transaction read was changed before the transaction could lock it, so it runs again. */
export class Superseded extends Error {}

/** Whether the transaction lost against another one and may be run again; also one that refers to an account which was erased. */
export function isRetryable(error: unknown): boolean {
  const cause = error instanceof TRPCError ? error.cause : error;
  if (cause instanceof Superseded) return true;
  const state = sqlState(cause);
  if (state === '23503') return (cause as { constraint?: string }).constraint?.endsWith('_account_id_fkey') === true;
  return state === '40001' || state === '40P01';
}

/**
 * Turns any thrown value into the API error for the caller. Unknown errors become INTERNAL_ERROR, without their text.
 */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof TRPCError) return fromTrpc(error);
  const locked = findLockedDays(error);
  if (locked)
    return periodLocked(
      locked.map(({ day }) => day),
      { cause: error },
    );
  if (isDatabaseAway(error) || error instanceof Superseded)
    return SERVICE_UNAVAILABLE({ retryAfterSeconds: 2, cause: error });
  return INTERNAL_ERROR({ cause: error });
}

function fromTrpc(error: TRPCError): ApiError {
  if (error.cause instanceof ApiError) return error.cause;
  const code: string = error.code;
  switch (code) {
    case 'BAD_REQUEST':
      if (error.cause instanceof ZodError) return validationFailed(toIssues(error.cause));
      if (error.cause instanceof SyntaxError) return MALFORMED_JSON({ cause: error });
      return MALFORMED_REQUEST({ cause: error, ...(error.cause === undefined ? { detail: `${error.message}.` } : {}) });
    case 'PARSE_ERROR':
      return MALFORMED_JSON({ cause: error });
    case 'NOT_FOUND':
      return ROUTE_NOT_FOUND({ cause: error, detail: `${error.message.slice(0, 300)}.` });
    case 'METHOD_NOT_SUPPORTED':
      return METHOD_NOT_ALLOWED({ cause: error });
    case 'UNSUPPORTED_MEDIA_TYPE':
      return UNSUPPORTED_MEDIA_TYPE({ cause: error });
    case 'PAYLOAD_TOO_LARGE':
      return BODY_TOO_LARGE({ cause: error });
    default:
      return error.cause === undefined ? INTERNAL_ERROR({ cause: error }) : toApiError(error.cause);
  }
}
