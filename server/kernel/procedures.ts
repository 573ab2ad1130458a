import { authenticate } from './authentication.ts';
import { nameOf, type Credential } from '../platform/credential.ts';
import type { AccountHolder, Caller, Context, Member } from './context.ts';
import { keepsAdminRights, type KeyAccess, type Scope } from '../platform/scopes.ts';
import { codesOf } from './declared.ts';
import {
  ADMIN_REQUIRED,
  COMPANY_CLOSED,
  COMPANY_REQUIRED,
  SESSION_BOUND,
  SESSION_REQUIRED,
  toApiError,
} from '../errors/errors.ts';
import type { Kind } from './definitions.ts';
import { scopeMissing } from './missing-scope.ts';
import type { ApiError } from '../errors/api-error.ts';
import type { RateLimitKeys } from '../platform/rate-limits.ts';
import { countAuthFailure, countRequest } from './rate-limit.ts';
import { handlesFor, runMutation } from './run-mutation.ts';
import { logAct, logError } from './security-log.ts';
import { noteRefusal } from './audit.ts';
import { scopeKindOf, scopesOf, type OperationMeta } from './operation.ts';
import type { Position, StreamEvent, StreamKind } from './streams.ts';
import { middleware, procedure } from './trpc.ts';

/*
 * The procedures that say who may call an operation. Each is one middleware before the body: it authenticates and
 * authorizes the caller, counts the request, gives a mutation its one transaction, which opens with the body's first
 * statement, and turns any thrown value into an API error.
 */

type Call = { kind: Kind; meta: OperationMeta };

/** Who may call. */
type Authorization<Found, Given> = {
  /** Authenticates the caller. */
  find(ctx: Context): Found | Promise<Found>;
  /** The keys under which requests are counted. */
  rateLimitKeys(found: Found, ctx: Context): RateLimitKeys;
  /** Returns what the operation receives of the caller; throws if they may not call it. */
  check(found: Found, call: Call): Given;
};

function authorize<Found extends Caller | undefined, Given extends object>({
  find,
  rateLimitKeys,
  check,
}: Authorization<Found, Given>) {
  return middleware(({ ctx, type, path, meta, getRawInput, next }) => {
    const { limits, background, onUndeclaredError } = ctx.services;
    const { connection } = ctx.request;
    async function run() {
      let found: Found | undefined;
      try {
        found = await find(ctx);
        const counting = countRequest(limits, ctx.request, path, rateLimitKeys(found, ctx));
        // Counting in this process alone is synchronous.
        if (counting) await counting;
        const given = check(found, { kind: type, meta: meta ?? {} });
        const result =
          type === 'mutation'
            ? await runMutation({ ...ctx, ...given }, { operation: path, meta: meta ?? {}, getRawInput }, (scope) =>
                next({ ctx: { ...given, ...scope } }),
              )
            : await next({
                ctx: {
                  ...given,
                  db: handlesFor(ctx.services, given)[meta?.isLongRead ? 'longReads' : 'reads'],
                  afterCommit: (task: () => void) => background.run(path, async () => task()),
                },
              });
        // tRPC's next() returns a failure instead of throwing it.
        if (!result.ok) throw result.error;
        if (meta?.securityAct)
          logAct(ctx, meta.securityAct, path, found, { input: await getRawInput(), data: result.data });
        return result;
      } catch (error) {
        let apiError = asMissingScope(toApiError(error), found, { kind: type, meta: meta ?? {} });
        logError(ctx, path, found, apiError);
        await noteRefusal(ctx, {
          operation: path,
          kind: type,
          meta: meta ?? {},
          caller: found,
          error: apiError,
          getRawInput,
        });
        if (apiError.definition.status === 401)
          apiError = await countAuthFailure(limits, apiError, { network: ctx.request.network, operation: path });
        if (!codesOf(meta ?? {}).has(apiError.definition.code)) onUndeclaredError(path, apiError.definition.code);
        throw apiError;
      }
    }
    return connection && type !== 'subscription' ? connection.run(run) : run();
  });
}

/** The account of a caller and the session that reaches it; refuses bound sessions and API keys, which reach none. */
export function accountOf({ credential }: { credential: Credential }): { accountId: number; sessionId: number } {
  if (credential.kind === 'boundSession') throw SESSION_BOUND();
  if (credential.kind === 'apiKey') throw SESSION_REQUIRED();
  return { accountId: credential.accountId, sessionId: credential.sessionId };
}

function authorizeAccountHolder(caller: Caller): { caller: AccountHolder } {
  return { caller: { ...accountOf(caller), ...caller } };
}

function authorizeSession({ credential, membership }: Caller): { caller: Caller & { sessionId: number } } {
  if (credential.kind === 'apiKey') throw SESSION_REQUIRED();
  return { caller: { sessionId: credential.sessionId, credential, membership } };
}

function authorizeMember({ credential, membership }: Caller, { kind, meta }: Call): { caller: Member } {
  if (credential.kind === 'apiKey') checkScopes(credential.scopes, { kind, meta });
  if (!membership) throw COMPANY_REQUIRED();
  if (membership.isClosed && kind === 'mutation' && !meta.whileClosed) throw COMPANY_CLOSED();
  const isAdmin = membership.isAdmin && hasAdminRights(credential, kind);
  return { caller: { credential, ...membership, isAdmin } };
}

function checkScopes(granted: readonly Scope[], { kind, meta }: Call): void {
  const sets = scopesOf(meta, scopeKindOf(kind));
  if (sets.length === 0) throw SESSION_REQUIRED();
  if (!sets.some((set) => set.every((scope) => granted.includes(scope)))) throw scopeMissing(sets, granted);
}

/** Whether a credential gives its holder the rights of the admin that they may be. */
const hasAdminRights = (credential: Credential, kind: Kind): boolean =>
  credential.kind !== 'apiKey' || keepsAdminRights(credential.scopes, scopeKindOf(kind));

/** The error for a key of an admin that acts without the rights of one: what it lacks is the scope. */
function asMissingScope(error: ApiError, found: Caller | undefined, { kind, meta }: Call): ApiError {
  if (error.definition !== ADMIN_REQUIRED || !found?.membership?.isAdmin) return error;
  const { credential } = found;
  if (credential.kind !== 'apiKey' || hasAdminRights(credential, kind)) return error;
  const [narrow = [], ...others] = scopesOf(meta, scopeKindOf(kind));
  return scopeMissing([[...narrow, 'admin'], ...others], credential.scopes);
}

function authorizeAdmin(found: Caller, call: Call): { caller: Member } {
  const authorized = authorizeMember(found, call);
  if (!authorized.caller.isAdmin) throw ADMIN_REQUIRED();
  return authorized;
}

const withSubscribe = middleware(async ({ ctx, signal, next }) => {
  const { caller, request, services } = ctx as Context & { caller: Member };
  const { connection } = request;
  if (!connection || !signal) throw new Error('a subscription needs a connection that lasts');
  connection.authenticate(caller.credential);
  const subscribe = <Event extends StreamEvent>(kind: StreamKind<Event>, subject: number, position: Position) =>
    services.streams.subscribe(kind, { subject, position, viewer: caller, connection, signal });
  return next({ ctx: { subscribe } });
});

const anyone: Authorization<undefined, object> = {
  find: () => undefined,
  rateLimitKeys: (_, { request }) => ({ caller: `network ${request.network}`, person: undefined, company: undefined }),
  check: () => ({}),
};
const withCredential = {
  find: (ctx: Context) => ctx.request.caller ?? authenticate(ctx),
  rateLimitKeys: ({ credential, membership }: Caller) => ({
    caller: nameOf(credential),
    person: membership
      ? `employee ${membership.companyId}.${membership.employeeId}`
      : credential.kind === 'session'
        ? `account ${credential.accountId}`
        : undefined,
    company: membership ? `company ${membership.companyId}` : undefined,
  }),
};

/** Anyone, without a token. */
export const open = procedure.meta({ access: 'open' }).use(authorize(anyone));

/**
 * The holder of an account in a session of their own, with or without a company; `ctx.caller.accountId` identifies it.
 */
export const signedIn = procedure
  .meta({ access: 'signedIn' })
  .use(authorize({ ...withCredential, check: authorizeAccountHolder }));

/** Any session, also one that a company's API key opened. */
export const anySession = procedure
  .meta({ access: 'session' })
  .use(authorize({ ...withCredential, check: authorizeSession }));

const anyMember = procedure.use(authorize({ ...withCredential, check: authorizeMember }));
const anyAdmin = procedure.use(authorize({ ...withCredential, check: authorizeAdmin }));
const anyStream = anyMember.use(withSubscribe);

/**
 * An active employee, `ctx.caller`, whose `companyId` scopes every query. `keys` says with which scopes an API key may
 * call: those of an area, such as `time`.
 */
export const member = (keys: KeyAccess) => anyMember.meta({ access: 'member', keys });

/** An admin of the company; an API key needs the scope `admin` beside that of its area. */
export const admin = (keys: KeyAccess) => anyAdmin.meta({ access: 'admin', keys });

/** A subscription by an active employee: the body checks access and returns `ctx.subscribe(…)`. */
export const stream = (keys: KeyAccess) => anyStream.meta({ access: 'member', keys });
