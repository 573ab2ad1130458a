import type { ErrorStatuses, IssueCodes } from './contract.ts';

/** What only the client itself can say: no answer came, none came in time, or what came is no answer of the service. */
export type ClientErrorCode = 'NETWORK_ERROR' | 'TIMEOUT' | 'UNEXPECTED_ANSWER';

/** Why a call failed, in a word for programs: every code that the service declares, and the client's own. */
export type ApiErrorCode = keyof ErrorStatuses | ClientErrorCode;

/**
 * What is wrong with a part of an input, in a word for programs: every code that the service answers; {@link IssueCodes}
 * says what each means. A later version of the service may have further ones, so give a `switch` a `default`.
 */
export type IssueCode = keyof IssueCodes;

/** One thing that is wrong with an input: where, what, and a word for programs. */
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
  requestId?: string | undefined;
  retryAfterMs?: number | undefined;
  cause?: unknown;
}

/** What a failed call throws. Its message is a sentence for a person; {@link isApiError} tells by its code what to do. */
export class ApiError<Code extends ApiErrorCode = ApiErrorCode> extends Error {
  readonly code: Code;
  /** The HTTP status; 0 where no answer came. */
  readonly status: number;
  /** The operation that was called, such as `tasks.create`. */
  readonly operation: string;
  /** What is wrong with the input, field by field; empty where the input is not to blame. */
  readonly issues: readonly Issue[];
  /** Names the request in the log of the service: quote it when you report a problem. */
  readonly requestId: string | undefined;
  /** How long to wait before another try, where the service says so. */
  readonly retryAfterMs: number | undefined;

  constructor(code: Code, message: string, details: ApiErrorDetails) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'ApiError';
    this.code = code;
    this.status = details.status;
    this.operation = details.operation;
    this.issues = details.issues ?? [];
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
  return error instanceof ApiError && (codes.length === 0 || codes.includes(error.code as Code));
}
