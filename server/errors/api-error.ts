import { TRPCError } from '@trpc/server';
import type { Issue } from './issues.ts';

/**
 * An API error has a code, a kind (its HTTP status) and a sentence. It is defined once, listed by the operations that
 * may answer it, and every surface (REST, tRPC, OpenAPI, SDK) uses its definition.
 */
const statusOfKind = {
  BAD_REQUEST: 400,
  UNAUTHORIZED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  METHOD_NOT_SUPPORTED: 405,
  TIMEOUT: 408,
  CONFLICT: 409,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  // tRPC has no code for 417; the service uses this one for nothing else.
  PRECONDITION_FAILED: 417,
  UNPROCESSABLE_CONTENT: 422,
  TOO_MANY_REQUESTS: 429,
  INTERNAL_SERVER_ERROR: 500,
  SERVICE_UNAVAILABLE: 503,
} as const;

export type ErrorKind = keyof typeof statusOfKind;

export type ErrorDetails = {
  /** More exact than the declared sentence; shown to the caller. */
  detail?: string;
  issues?: Issue[];
  retryAfterSeconds?: number;
  /** What an API key would need besides its scopes. */
  missingScopes?: readonly string[];
  /** For the log, never for the caller. */
  cause?: unknown;
};

export type ErrorDefinition = {
  (details?: ErrorDetails): ApiError;
  readonly code: string;
  readonly kind: ErrorKind;
  readonly status: number;
  readonly sentence: string;
};

export class ApiError extends TRPCError {
  readonly definition: ErrorDefinition;
  readonly issues: Issue[] | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly missingScopes: readonly string[] | undefined;

  constructor(definition: ErrorDefinition, details: ErrorDetails) {
    super({ code: definition.kind, message: details.detail ?? definition.sentence, cause: details.cause });
    this.name = 'ApiError';
    this.definition = definition;
    this.issues = details.issues;
    this.retryAfterSeconds = details.retryAfterSeconds;
    this.missingScopes = details.missingScopes;
  }
}

const declared = new Map<string, ErrorDefinition>();

/** Defines an API error. `code` is stable and unique; `sentence` tells a person what is wrong and what to do. */
export function defineError(code: string, kind: ErrorKind, sentence: string): ErrorDefinition {
  if (declared.has(code)) throw new Error(`the error ${code} is defined twice`);
  const make = (details: ErrorDetails = {}): ApiError => new ApiError(made, details);
  const made: ErrorDefinition = Object.assign(make, { code, kind, status: statusOfKind[kind], sentence });
  declared.set(code, made);
  return made;
}

/** All defined errors, for the pages that explain them. */
export function definedErrors(): ErrorDefinition[] {
  return [...declared.values()].toSorted((a, b) => a.code.localeCompare(b.code));
}
