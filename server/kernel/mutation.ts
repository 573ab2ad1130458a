import type { Context, Member, MutationScope, SignedIn } from './context.ts';
import { isRetryable } from './faults.ts';
import { beginIdempotentCall } from './idempotency.ts';
import { streamsPublishedIn } from './publish.ts';

/** A mutation that loses a deadlock is run again, as often as this. */
const attemptsMax = 3;

type Call = { operation: string; getRawInput(): unknown };

/**
 * Runs the body of a mutation in its one transaction, which opens with the body's first statement. `body` answers as
 * tRPC's next() does: a failure is answered, not thrown. Where the answer of an earlier call with the same
 * Idempotency-Key is kept, that is answered instead.
 */
export async function runMutation<Result extends { ok: boolean }>(
  ctx: Context & { caller?: SignedIn | Member },
  { operation, getRawInput }: Call,
  body: (scope: MutationScope) => Promise<Result>,
): Promise<Result> {
  const key = ctx.request.idempotencyKey;
  if (key === undefined) return runInTransaction(ctx, body);
  const call = beginIdempotentCall(ctx, callerName(ctx), operation, key, await getRawInput());
  try {
    const kept = await call.findAnswer();
    if (!kept) return await runInTransaction(ctx, body, call);
    ctx.request.setHeader('Idempotency-Replayed', 'true');
    // What the body would have answered, with the kept answer for data.
    return { ok: true, data: kept.answer } as unknown as Result;
  } finally {
    call.end();
  }
}

async function runInTransaction<Result extends { ok: boolean }>(
  { services: { database, log, streams } }: Context,
  body: (scope: MutationScope) => Promise<Result>,
  call?: ReturnType<typeof beginIdempotentCall>,
): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    const transaction = database.begin(call?.claim);
    const tasks: (() => void)[] = [];
    try {
      const result = await body({
        db: transaction.db,
        // An answer that is to be kept under an Idempotency-Key is kept before the commit.
        finish: (send) => (call ? send() : transaction.commitBehind(send)),
        afterCommit: (task) => void tasks.push(task),
      });
      if (!result.ok) throw (result as unknown as { error: unknown }).error;
      await call?.keep(transaction.db, (result as unknown as { data: unknown }).data);
      await transaction.commit();
      for (const task of tasks) task();
      streams.wake(streamsPublishedIn(transaction.db));
      return result;
    } catch (error) {
      await transaction.rollback().catch((cause: unknown) => log.warn({ err: cause }, 'a rollback failed'));
      if (attempt >= attemptsMax || !isRetryable(error)) throw error;
    }
  }
}

/** Whose Idempotency-Keys these are: one caller's never meet another's. */
function callerName({ caller, request }: Context & { caller?: SignedIn | Member }): string {
  if (caller) return `account ${caller.accountId} ${'companyId' in caller ? caller.companyId : ''}`;
  // An open operation may ask for a proof in the headers: whoever has another one, or none, is somebody else.
  return `anonymous ${request.bearer ?? ''} ${request.refreshToken ?? ''}`;
}
