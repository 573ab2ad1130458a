import { authenticate } from './authentication.ts';
import { nameOf } from './connections.ts';
import type { Context, Member, SignedIn } from './context.ts';
import { codesOf } from './declared.ts';
import { ADMIN_REQUIRED, COMPANY_REQUIRED, SCOPE_REQUIRED, SESSION_REQUIRED, toFaultError } from './faults.ts';
import { countRequest } from './limits.ts';
import { runMutation } from './mutation.ts';
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
  /** The name by which their requests are counted. */
  countedAs(found: Found, ctx: Context): string;
  /** What the operation is given of them; refuses who may not call it. */
  admit(found: Found, kind: Kind): Given;
};

function admits<Found, Given extends object>({ find, countedAs, admit }: Admission<Found, Given>) {
  return middleware(({ ctx, type, path, meta, getRawInput, next }) => {
    const { limits, database, background, onUndeclaredFault } = ctx.services;
    const { connection } = ctx.request;
    async function run() {
      try {
        const found = await find(ctx);
        const counting = countRequest(limits, ctx.request, path, countedAs(found, ctx));
        // Nothing is waited for where this process counts by itself.
        if (counting) await counting;
        const given = admit(found, type);
        const result =
          type === 'mutation'
            ? await runMutation({ ...ctx, ...given }, { operation: path, getRawInput }, (scope) =>
                next({ ctx: { ...given, ...scope } }),
              )
            : await next({
                ctx: {
                  ...given,
                  db: database.reads,
                  afterCommit: (task: () => void) => background.run(path, async () => task()),
                },
              });
        // tRPC's next() answers a failure instead of throwing it.
        if (!result.ok) throw result.error;
        return result;
      } catch (error) {
        const refusal = toFaultError(error);
        if (!codesOf(meta ?? {}).has(refusal.fault.code)) onUndeclaredFault(path, refusal.fault.code);
        throw refusal;
      }
    }
    return connection && type !== 'subscription' ? connection.run(run) : run();
  });
}

/** Answers the session of a caller who must have one: keys do not manage sessions, keys and passwords. */
export function sessionOf({ credential }: SignedIn | Member): number {
  if (credential.kind !== 'session') throw SESSION_REQUIRED();
  return credential.sessionId;
}

function admitSignedIn(caller: SignedIn): { caller: SignedIn } {
  sessionOf(caller);
  return { caller };
}

function admitMember({ membership, ...person }: SignedIn, kind: Kind): { caller: Member } {
  const { credential } = person;
  const scope = kind === 'mutation' ? 'write' : 'read';
  if (credential.kind === 'apiKey' && !credential.scopes.includes(scope)) {
    throw SCOPE_REQUIRED({ detail: `This operation needs an API key with the scope ${scope}.` });
  }
  if (!membership) throw COMPANY_REQUIRED();
  return { caller: { ...person, ...membership } };
}

function admitAdmin(found: SignedIn, kind: Kind): { caller: Member } {
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
  countedAs: (_, { request }) => `network ${request.network}`,
  admit: () => ({}),
};
const withCredential = {
  find: authenticate,
  countedAs: ({ credential }: SignedIn) => nameOf(credential),
};

/** Anyone, without a token. */
export const open = procedure.meta({ access: 'open' }).use(admits(anyone));

/** Anyone who has signed in to a session, with or without a company. */
export const signedIn = procedure.meta({ access: 'signedIn' }).use(admits({ ...withCredential, admit: admitSignedIn }));

/** An active employee; `ctx.caller` is who, and `ctx.caller.companyId` scopes every query. */
export const member = procedure.meta({ access: 'member' }).use(admits({ ...withCredential, admit: admitMember }));

/** An admin of the company. */
export const admin = procedure.meta({ access: 'admin' }).use(admits({ ...withCredential, admit: admitAdmin }));

/** An active employee who listens: the body decides to what, and `ctx.follow` sends it for as long as it may. */
export const stream = member.use(listens);
