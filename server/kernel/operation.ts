import type { OpenApiMeta } from 'trpc-to-openapi';
import type { z } from 'zod';
import type { ErrorDefinition } from '../errors/api-error.ts';
import { scopesFor, type KeyAccess, type Scope, type ScopeKind } from '../platform/scopes.ts';
import type { ChangeEvent } from './change-event.ts';
import type { Kind } from './definitions.ts';
import type { ToolUse } from './tool.ts';

/** Who may call an operation: see procedures.ts. */
export type Access = 'open' | 'session' | 'signedIn' | 'member' | 'admin';

/** A credential that an open operation accepts: see its body for what each may do. */
export type BodyCredential = 'loginTicket' | 'pair' | 'apiKey';

/**
 * The security log's name for the success of an operation on an account, a session or a key; `made` is the field for
 * the identifier that it creates. A sign-in is logged where its session begins, so sign-ins have none.
 */
export type SecurityAct = string | { event: string; made: string };

/** What a REST operation declares beside its REST line. */
type Declared = {
  /** The credentials of which the body requires one, if `access` does not say so. */
  bodyCredentials?: readonly BodyCredential[];
  /** Its own errors; those of its access and its kind are added. */
  errors?: readonly ErrorDefinition[];
  /** The input field that holds the whole body, if the documented body is an array. */
  bodyField?: string;
  bodyBytesMax?: number;
  /** Its answer holds a secret and is not stored for retries: an `Idempotency-Key` has no effect. */
  answersSecret?: true;
  /** A query that may read much and writes nothing: a read replica takes it, where there is one. */
  isLongRead?: true;
  securityAct?: SecurityAct;
  /** Why a mutation has no row in the audit log; without it each has one. */
  notAudited?: string;
  /** The change events that it may record. */
  changes?: readonly ChangeEvent[];
  /** A mutation that is possible in a closed company. */
  whileClosed?: true;
  /** An example request for the reference page; a test checks that it is valid. */
  example?: Record<string, unknown>;
  /** The tool of agents that it is a part of. */
  tool?: ToolUse;
};

/** The metadata of an operation. All transports and the generated tests read it. */
export type OperationMeta = OpenApiMeta<
  Declared & {
    access?: Access;
    /** What it asks of an API key; absent if `access` alone decides. */
    keys?: KeyAccess;
    /**
     * The section of the interface that it serves, by its heading; `Additions` for operations that the interface lacks.
     */
    section?: string;
    /** The events that a subscription sends, with their description. */
    events?: { schema: z.ZodUnion<readonly z.ZodObject[]>; summary: string; description: string };
  }
>;

/** The scopes that an API key needs for an operation: one of these sets. */
export const scopesOf = ({ access, keys = 'no key' }: OperationMeta, kind: ScopeKind): readonly (readonly Scope[])[] =>
  scopesFor(keys, { kind, isForAdmins: access === 'admin' });

/** A subscription only reads. */
export const scopeKindOf = (type: Kind): ScopeKind => (type === 'mutation' ? 'write' : 'read');

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export type RestDetails = Declared & {
  section: string;
  summary: string;
  /** Rules, side effects and limits, beyond the shapes. Markdown. */
  description?: string;
};

/** Whether its answer may hold a secret: open operations sign in, or send or use up a code. */
const mayAnswerSecret = ({ access = 'open', answersSecret }: OperationMeta): boolean =>
  access === 'open' || answersSecret === true;

/** Whether its answer may be compressed: the length of a secret next to the caller's own text reveals it (BREACH). */
export const isCompressible = (meta: OperationMeta): boolean =>
  !mayAnswerSecret(meta) && meta.openapi?.method === 'GET';

/**
 * Whether a write with an `Idempotency-Key` takes effect once. Open operations sign in, or send or use up a code: their
 * answers are not stored, and no caller exists to whom the key could belong.
 */
export const honoursIdempotencyKey = (meta: OperationMeta): boolean =>
  !mayAnswerSecret(meta) && meta.openapi !== undefined && meta.openapi.method !== 'GET';

/**
 * The REST line of an operation: its documented method and path, exactly, with `{name}` for a path parameter. Path
 * parameters, query and body fields form one input, in this order of precedence.
 */
export function rest(line: `${Method} /${string}`, details: RestDetails): OperationMeta {
  const [method, path] = line.split(' ') as [Method, `/${string}`];
  const { section, summary, description, ...more } = details;
  return {
    openapi: { method, path, summary, tags: [section], description },
    section,
    ...more,
  };
}
