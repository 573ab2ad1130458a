import { TRPCError } from '@trpc/server';
import type { Issue } from './issues.ts';

/**
 * A fault is a refusal with a name. It is declared once, listed by the operations that may answer it,
 * and every door (REST, tRPC, OpenAPI, SDK) takes its code, status and sentence from the declaration.
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
  // tRPC has no word for an expectation; the service knows no other precondition.
  PRECONDITION_FAILED: 417,
  UNPROCESSABLE_CONTENT: 422,
  TOO_MANY_REQUESTS: 429,
  INTERNAL_SERVER_ERROR: 500,
  SERVICE_UNAVAILABLE: 503,
} as const;

export type FaultKind = keyof typeof statusOfKind;

export type FaultDetails = {
  /** Says it more exactly than the declared sentence; shown to the caller. */
  detail?: string;
  issues?: Issue[];
  retryAfterSeconds?: number;
  /** For the log, never for the caller. */
  cause?: unknown;
};

export type Fault = {
  (details?: FaultDetails): FaultError;
  readonly code: string;
  readonly kind: FaultKind;
  readonly status: number;
  readonly sentence: string;
};

export class FaultError extends TRPCError {
  readonly fault: Fault;
  readonly issues: Issue[] | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(fault: Fault, details: FaultDetails) {
    super({ code: fault.kind, message: details.detail ?? fault.sentence, cause: details.cause });
    this.name = 'FaultError';
    this.fault = fault;
    this.issues = details.issues;
    this.retryAfterSeconds = details.retryAfterSeconds;
  }
}

const declared = new Map<string, Fault>();

/** Declares a fault. `code` is stable and unique; `sentence` tells a person what is wrong and what to do. */
export function fault(code: string, kind: FaultKind, sentence: string): Fault {
  if (declared.has(code)) throw new Error(`the fault ${code} is declared twice`);
  const make = (details: FaultDetails = {}): FaultError => new FaultError(made, details);
  const made: Fault = Object.assign(make, { code, kind, status: statusOfKind[kind], sentence });
  declared.set(code, made);
  return made;
}

/** Every declared fault, for the pages that explain them. */
export function declaredFaults(): Fault[] {
  return [...declared.values()].toSorted((a, b) => a.code.localeCompare(b.code));
}
