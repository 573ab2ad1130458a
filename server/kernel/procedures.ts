import { authenticate } from './authentication.ts';
import { nameOf } from './connections.ts';
import type { Context, Member, MutationScope, SignedIn } from './context.ts';
import { codesOf } from './declared.ts';
import {
  ADMIN_REQUIRED,
  COMPANY_REQUIRED,
  isRetryable,
  SCOPE_REQUIRED,
  SESSION_REQUIRED,
  toFaultError,
} from './faults.ts';
import { beginIdempotentCall } from './idempotency.ts';
import { countRequest } from './limits.ts';
import { streamsPublishedIn } from './publish.ts';
import type { Position, StreamEvent, StreamKind } from './streams.ts';
import { middleware, procedure } from './trpc.ts';

/*
 * The words that say who may call an operation. Each is a chain of the same steps: faults are named, the caller is
 * found, the request is counted, and a mutation gets its one transaction, which opens with the body's first statement.
 */

/** A mutation that loses a deadlock is run again, as often as this. */
const attemptsMax = 3;

const namesFaults = middleware(async ({ ctx, path, meta, next }) => {
  const result = await next();
  if (result.ok) return result;
  const refusal = toFaultError(result.error);
  if (!codesOf(meta ?? {}).has(refusal.fault.code)) ctx.services.onUndeclaredFault(path, refusal.fault.code);
  return { ...result, error: refusal };
});

const transacts = middleware(async ({ ctx, type, path, getRawInput, next }) => {
  const { database, background } = ctx.services;
  const nothingToCommit: MutationScope = {
    db: database.db,
    afterCommit: (task) => background.run(path, async () => task()),
  };
  if (type !== 'mutation') return next({ ctx: nothingToCommit });

  const key = ctx.request.idempotencyKey;
  const call =
    key === undefined ? undefined : beginIdempotentCall(ctx, callerName(ctx), path, key, await getRawInput());
  try {
    const kept = await call?.findAnswer();
    if (kept) {
      ctx.request.setHeader('Idempotency-Replayed', 'true');
      // What next() would have answered, with the kept answer for data.
      return { ok: true, data: kept.answer, ctx: nothingToCommit } as unknown as Awaited<
        ReturnType<typeof next<MutationScope>>
      >;
    }
    for (let attempt = 1; ; attempt += 1) {
      const transaction = database.begin(call?.claim);
      const tasks: (() => void)[] = [];
      try {
        // tRPC's next() answers a failure instead of throwing it.
        const result = await next({
          ctx: { db: transaction.db, afterCommit: (task) => void tasks.push(task) } satisfies MutationScope,
        });
        if (!result.ok) throw result.error;
        await call?.keep(transaction.db, result.data);
        await transaction.commit();
        for (const task of tasks) task();
        ctx.services.streams.wake(streamsPublishedIn(transaction.db));
        return result;
      } catch (error) {
        await transaction
          .rollback()
          .catch((cause: unknown) => ctx.services.log.warn({ err: cause }, 'a rollback failed'));
        if (attempt >= attemptsMax || !isRetryable(error)) throw error;
      }
    }
  } finally {
    call?.end();
  }
});

/** Whose Idempotency-Keys these are: one caller's never meet another's. */
function callerName({ caller, request }: Context & { caller?: SignedIn | Member }): string {
  if (caller) return `account ${caller.accountId} ${'companyId' in caller ? caller.companyId : ''}`;
  // An open operation may ask for a proof in the headers: whoever has another one, or none, is somebody else.
  return `anonymous ${request.bearer ?? ''} ${request.refreshToken ?? ''}`;
}

const counts = middleware(async ({ ctx, path, next }) => {
  const { caller } = ctx as Context & { caller?: SignedIn };
  const who = caller ? nameOf(caller.credential) : `network ${ctx.request.network}`;
  await countRequest(ctx.services.limits, ctx.request, path, who);
  return next();
});

const signsIn = middleware(async ({ ctx, next }) => next({ ctx: { caller: await authenticate(ctx) } }));

/** Answers the session of a caller who must have one: keys do not manage sessions, keys and passwords. */
export function sessionOf({ credential }: SignedIn | Member): number {
  if (credential.kind !== 'session') throw SESSION_REQUIRED();
  return credential.sessionId;
}

const needsSession = middleware(async ({ ctx, next }) => {
  sessionOf((ctx as Context & { caller: SignedIn }).caller);
  return next();
});

const belongs = middleware(async ({ ctx, type, next }) => {
  const { caller } = ctx as Context & { caller: SignedIn };
  const { credential } = caller;
  const scope = type === 'mutation' ? 'write' : 'read';
  if (credential.kind === 'apiKey' && !credential.scopes.includes(scope)) {
    throw SCOPE_REQUIRED({ detail: `This operation needs an API key with the scope ${scope}.` });
  }
  const { membership, ...person } = caller;
  if (!membership) throw COMPANY_REQUIRED();
  const member: Member = { ...person, ...membership };
  return next({ ctx: { caller: member } });
});

const administers = middleware(async ({ ctx, next }) => {
  const { caller } = ctx as Context & { caller: Member };
  if (!caller.isAdmin) throw ADMIN_REQUIRED();
  return next();
});

const listens = middleware(async ({ ctx, signal, next }) => {
  const { caller, request, services } = ctx as Context & { caller: Member };
  const { connection } = request;
  if (!connection || !signal) throw new Error('a subscription came through a door that keeps no connection');
  connection.claim(caller.credential);
  const follow = <Event extends StreamEvent>(kind: StreamKind<Event>, subject: number, position: Position) =>
    services.streams.follow(kind, { subject, position, viewer: caller, connection, signal });
  return next({ ctx: { follow, db: services.database.db } });
});

const base = procedure.use(namesFaults);
const identified = base.use(signsIn).use(counts);

/** Anyone, without a token. */
export const open = base.meta({ access: 'open' }).use(counts).use(transacts);

/** Anyone who has signed in to a session, with or without a company. */
export const signedIn = identified.meta({ access: 'signedIn' }).use(needsSession).use(transacts);

/** An active employee; `ctx.caller` is who, and `ctx.caller.companyId` scopes every query. */
export const member = identified.meta({ access: 'member' }).use(belongs).use(transacts);

/** An admin of the company. */
export const admin = identified.meta({ access: 'admin' }).use(belongs).use(administers).use(transacts);

/** An active employee who listens: the body decides to what, and `ctx.follow` sends it for as long as it may. */
export const stream = identified.meta({ access: 'member' }).use(belongs).use(listens);
