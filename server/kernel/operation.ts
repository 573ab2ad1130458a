import type { OpenApiMeta } from 'trpc-to-openapi';
import type { z } from 'zod';
import type { ErrorDefinition } from '../errors/api-error.ts';

/** Who may call an operation: see procedures.ts. */
export type Access = 'open' | 'session' | 'signedIn' | 'member' | 'admin';

/** What proves who calls an operation that is open: see its body for what each may do. */
export type BodyCredential = 'loginTicket' | 'pair' | 'apiKey';

/**
 * What the security log calls the success of an operation that acts on an account, a session or a key; `made` is the field
 * for the identifier of what it makes. A sign-in is logged where its session begins, so sign-ins have none.
 */
export type SecurityAct = string | { event: string; made: string };

/** What is said of an operation beside its input, output and body. All doors and the generated tests read it. */
export type OperationMeta = OpenApiMeta<{
  access?: Access;
  /** The bodyCredentials that its body asks for, one of which must be sent, where that is not said by `access`. */
  bodyCredentials?: readonly BodyCredential[];
  /** The errors of its own; those of its access and its kind are known without being named. */
  errors?: readonly ErrorDefinition[];
  /** The part of the interface that it serves, as headed there; `Additions` for what the interface lacks. */
  section?: string;
  /** The input field that the whole body is, where the documented body is an array. */
  bodyField?: string;
  bodyBytesMax?: number;
  /** Its answer holds a secret, so no copy of it is kept for retries: an `Idempotency-Key` does nothing. */
  answersSecret?: true;
  securityAct?: SecurityAct;
  /** What a subscription sends, and what is said of it. */
  events?: { schema: z.ZodUnion<readonly z.ZodObject[]>; summary: string; description: string };
  /** A request as documented, for the reference page: it must be valid and is checked to be. */
  example?: Record<string, unknown>;
}>;

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export type RestDetails = {
  section: string;
  summary: string;
  /** What a reader must know beyond the shapes: rules, side effects, limits. Markdown. */
  description?: string;
  errors?: readonly ErrorDefinition[];
  bodyCredentials?: readonly BodyCredential[];
  bodyField?: string;
  bodyBytesMax?: number;
  answersSecret?: true;
  securityAct?: SecurityAct;
  example?: Record<string, unknown>;
};

/** Whether its answer may hold a secret: what is open signs in, or sends or uses up a code. */
const mayAnswerSecret = ({ access = 'open', answersSecret }: OperationMeta): boolean =>
  access === 'open' || answersSecret === true;

/** Whether its answer may be compressed: the length of a secret beside a caller's own text tells of it (BREACH). */
export const isCompressible = (meta: OperationMeta): boolean =>
  !mayAnswerSecret(meta) && meta.openapi?.method === 'GET';

/**
 * Whether a write with an `Idempotency-Key` happens once. What is open signs in, sends a code or uses one up: its answer
 * is kept nowhere, and there is no caller to whom the key could belong.
 */
export const honoursIdempotencyKey = (meta: OperationMeta): boolean =>
  !mayAnswerSecret(meta) && meta.openapi !== undefined && meta.openapi.method !== 'GET';

/**
 * The REST line of an operation: its documented method and path, letter for letter, `{name}` for a path parameter.
 * Path parameters, query and body fields are one input, in this order of precedence.
 */
export function rest(line: `${Method} /${string}`, details: RestDetails): OperationMeta {
  const [method, path] = line.split(' ') as [Method, `/${string}`];
  const { section, summary, description, ...more } = details;
  return {
    openapi: { method, path, summary, tags: [section], ...(description === undefined ? {} : { description }) },
    section,
    ...more,
  };
}
