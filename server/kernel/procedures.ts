import { authenticate } from './authentication.ts';
import { nameOf } from './connections.ts';
import type { AccountHolder, Caller, Context, Credential, Member } from './context.ts';
import { codesOf } from './declared.ts';
import {
  ADMIN_REQUIRED,
  COMPANY_REQUIRED,
  SCOPE_REQUIRED,
  SESSION_BOUND,
  SESSION_REQUIRED,
  toFaultError,
} from './faults.ts';
import { countRefusal, countRequest, type CountedAs } from './limits.ts';
import { handlesFor, runMutation } from './mutation.ts';
import { isSecurityAct, logAct, logRefusal } from './security-log.ts';
import type { Position, StreamEvent, StreamKind } from './streams.ts';
import { middleware, procedure } from './trpc.ts';

/*
 * The words that say who may call an operation. Each is one step in front of the body: the caller is found and
 * admitted, the request is counted, a mutation gets its one transaction, which opens with the body's first statement,
 * and whatever goes wrong gets its name.
 */

type Kind = 'query' | 'mutation' | 'subscription';

/** Who may call. */
type Admission<Found, Given> = {
  /** Looks who is calling. */
  find(ctx: Context): Found | Promise<Found>;
  /** The names by which their requests are counted. */
  countedAs(found: Found, ctx: Context): CountedAs;
  /** What the operation is given of them; refuses who may not call it. */
  admit(found: Found, kind: Kind): Given;
};

function admits<Found extends Caller | undefined, Given extends object>({
  find,
  countedAs,
  admit,
}: Admission<Found, Given>) {
  return middleware(({ ctx, type, path, meta, getRawInput, next }) => {
    const { limits, background, onUndeclaredFault } = ctx.services;
    const { connection } = ctx.request;
    async function run() {
      let found: Found | undefined;
      try {
        found = await find(ctx);
        const counting = countRequest(limits, ctx.request, path, countedAs(found, ctx));
        // Nothing is waited for where this process counts by itself.
        if (counting) await counting;
        const given = admit(found, type);
        const result =
          type === 'mutation'
            ? await runMutation({ ...ctx, ...given }, { operation: path, meta: meta ?? {}, getRawInput }, (scope) =>
                next({ ctx: { ...given, ...scope } }),
              )
            : await next({
                ctx: {
                  ...given,
                  db: handlesFor(ctx.services, given).reads,
                  afterCommit: (task: () => void) => background.run(path, async () => task()),
                },
              });
        // tRPC's next() answers a failure instead of throwing it.
        if (!result.ok) throw result.error;
        if (isSecurityAct(path)) logAct(ctx, path, found, { input: await getRawInput(), data: result.data });
        return result;
      } catch (error) {
        let refusal = toFaultError(error);
        logRefusal(ctx, path, found, refusal);
        if (refusal.fault.status === 401)
          refusal = await countRefusal(limits, refusal, { network: ctx.request.network, operation: path });
        if (!codesOf(meta ?? {}).has(refusal.fault.code)) onUndeclaredFault(path, refusal.fault.code);
        throw refusal;
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

function admitAccountHolder(caller: Caller): { caller: AccountHolder } {
  return { caller: { ...accountOf(caller), ...caller } };
}

function admitSession({ credential, membership }: Caller): { caller: Caller & { sessionId: number } } {
  if (credential.kind === 'apiKey') throw SESSION_REQUIRED();
  return { caller: { sessionId: credential.sessionId, credential, membership } };
}

function admitMember({ credential, membership }: Caller, kind: Kind): { caller: Member } {
  const scope = kind === 'mutation' ? 'write' : 'read';
  if (credential.kind === 'apiKey' && !credential.scopes.includes(scope)) {
    throw SCOPE_REQUIRED({ detail: `This operation needs an API key with the scope ${scope}.` });
  }
  if (!membership) throw COMPANY_REQUIRED();
  return { caller: { credential, ...membership } };
}

function admitAdmin(found: Caller, kind: Kind): { caller: Member } {
  const admitted = admitMember(found, kind);
  if (!admitted.caller.isAdmin) throw ADMIN_REQUIRED();
  return admitted;
}

const listens = middleware(async ({ ctx, signal, next }) => {
  const { caller, request, services } = ctx as Context & { caller: Member };
  const { connection } = request;
  if (!connection || !signal) throw new Error('a subscription came through a door that keeps no connection');
  connection.claim(caller.credential);
  const follow = <Event extends StreamEvent>(kind: StreamKind<Event>, subject: number, position: Position) =>
    services.streams.follow(kind, { subject, position, viewer: caller, connection, signal });
  return next({ ctx: { follow } });
});

const anyone: Admission<undefined, object> = {
  find: () => undefined,
  countedAs: (_, { request }) => ({ caller: `network ${request.network}`, person: undefined, company: undefined }),
  admit: () => ({}),
};
const withCredential = {
  find: (ctx: Context) => ctx.request.caller ?? authenticate(ctx),
  countedAs: ({ credential, membership }: Caller) => ({
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
export const open = procedure.meta({ access: 'open' }).use(admits(anyone));

/** The holder of an account in a session of their own, with or without a company; `ctx.caller.accountId` is whose. */
export const signedIn = procedure
  .meta({ access: 'signedIn' })
  .use(admits({ ...withCredential, admit: admitAccountHolder }));

/** Any session, also one that a company's API key opened. */
export const anySession = procedure.meta({ access: 'session' }).use(admits({ ...withCredential, admit: admitSession }));

/** An active employee; `ctx.caller` is who, and `ctx.caller.companyId` scopes every query. */
export const member = procedure.meta({ access: 'member' }).use(admits({ ...withCredential, admit: admitMember }));

/** An admin of the company. */
export const admin = procedure.meta({ access: 'admin' }).use(admits({ ...withCredential, admit: admitAdmin }));

/** An active employee who listens: the body decides to what, and `ctx.follow` sends it for as long as it may. */
export const stream = member.use(listens);
