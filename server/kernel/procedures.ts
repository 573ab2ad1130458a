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

/**
 * Looks who is calling, with `find`, which counts the request as theirs, and makes of it what an operation is given of its
 * caller, or a refusal, with `admit`.
 */
function admits<Found, Given extends object>(
  find: (ctx: Context, operation: string) => Promise<Found>,
  admit: (found: Found, kind: Kind) => Given,
) {
  return middleware(async ({ ctx, type, path, meta, getRawInput, next }) => {
    const { database, background, onUndeclaredFault } = ctx.services;
    const { connection } = ctx.request;
    async function run() {
      const given = admit(await find(ctx, path), type);
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
    }
    try {
      return await (connection && type !== 'subscription' ? connection.run(run) : run());
    } catch (error) {
      const refusal = toFaultError(error);
      if (!codesOf(meta ?? {}).has(refusal.fault.code)) onUndeclaredFault(path, refusal.fault.code);
      throw refusal;
    }
  });
}

async function countAnyone({ services, request }: Context, operation: string): Promise<void> {
  await countRequest(services.limits, request, operation, `network ${request.network}`);
}

async function identify(ctx: Context, operation: string): Promise<SignedIn> {
  const caller = await authenticate(ctx);
  // Nothing is waited for where this process counts by itself.
  const counting = countRequest(ctx.services.limits, ctx.request, operation, nameOf(caller.credential));
  if (counting) await counting;
  return caller;
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

/** Anyone, without a token. */
export const open = procedure.meta({ access: 'open' }).use(admits(countAnyone, () => ({})));

/** Anyone who has signed in to a session, with or without a company. */
export const signedIn = procedure.meta({ access: 'signedIn' }).use(admits(identify, admitSignedIn));

/** An active employee; `ctx.caller` is who, and `ctx.caller.companyId` scopes every query. */
export const member = procedure.meta({ access: 'member' }).use(admits(identify, admitMember));

/** An admin of the company. */
export const admin = procedure.meta({ access: 'admin' }).use(admits(identify, admitAdmin));

/** An active employee who listens: the body decides to what, and `ctx.follow` sends it for as long as it may. */
export const stream = member.use(listens);
