import type { ApiKeyScope, ErrorStatuses, IssueCodes } from './contract.ts';

/** The client's own codes: no answer came, none came in time, or the answer is not the service's. */
export type ClientErrorCode = 'NETWORK_ERROR' | 'TIMEOUT' | 'UNEXPECTED_ANSWER';

/** The code of a failed call: every code that the service declares, and the client's own. */
export type ApiErrorCode = keyof ErrorStatuses | ClientErrorCode;

/**
 * The code of an issue of an input; {@link IssueCodes} says what each means. A later version of the service may add
 * codes, so give a `switch` a `default`.
 */
export type IssueCode = keyof IssueCodes;

/** One issue of an input: its place, a message, and a code for programs. */
export interface Issue {
  path: (string | number)[];
  message: string;
  code: IssueCode;
}

export interface ApiErrorDetails {
  /** The HTTP status; 0 where no answer came. */
  status: number;
  /** The operation that was called, such as `tasks.create`. */
  operation: string;
  issues?: readonly Issue[] | undefined;
  missingScopes?: readonly ApiKeyScope[] | undefined;
  requestId?: string | undefined;
  retryAfterMs?: number | undefined;
  cause?: unknown;
}

/** Marks an error of any copy of this package: `import` and `require` load one each. */
const mark = Symbol.for('work-management-client.ApiError');

/** The error of a failed call. Its message is a sentence for a person; {@link isApiError} checks its code. */
export class ApiError<Code extends ApiErrorCode = ApiErrorCode> extends Error {
  readonly code: Code;
  /**
   * The HTTP status; 0 where no answer came. Without a session the client itself answers `UNAUTHENTICATED` and
   * `COMPANY_REQUIRED`, with their status.
   */
  readonly status: number;
  /** The operation that was called, such as `tasks.create`. */
  readonly operation: string;
  /** The issues of the input, field by field; empty if the input is valid. */
  readonly issues: readonly Issue[];
  /** The scopes that the API key lacks, with `SCOPE_REQUIRED`; else empty. */
  readonly missingScopes: readonly ApiKeyScope[];
  /** Identifies the request in the service's log: quote it when you report a problem. */
  readonly requestId: string | undefined;
  /** How long to wait before a retry, if the service says so. */
  readonly retryAfterMs: number | undefined;

  constructor(code: Code, message: string, details: ApiErrorDetails) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'ApiError';
    Object.defineProperty(this, mark, { value: true });
    this.code = code;
    this.status = details.status;
    this.operation = details.operation;
    this.issues = details.issues ?? [];
    this.missingScopes = details.missingScopes ?? [];
    this.requestId = details.requestId;
    this.retryAfterMs = details.retryAfterMs;
  }
}

/**
 * Whether something that was thrown is an API error, or one of those that are named.
 *
 * @example
 * if (isApiError(error, 'DUPLICATE_TASK_LOG')) return 'That time is logged already.';
 */
export function isApiError<Code extends ApiErrorCode = ApiErrorCode>(
  error: unknown,
  ...codes: Code[]
): error is ApiError<Code> {
  if (!(error instanceof Error && mark in error)) return false;
  return codes.length === 0 || codes.includes((error as Error as ApiError<Code>).code);
}
