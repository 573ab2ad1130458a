import type { Handles } from '../../db/open.ts';
import { inOrder } from '../../db/pipeline/in-order.ts';
import { nameOf } from '../platform/credential.ts';
import type { Context, MutationScope, Services } from './context.ts';
import type { Credential } from '../platform/credential.ts';
import { isRetryable } from '../errors/errors.ts';
import { beginIdempotentCall } from './idempotency.ts';
import { honoursIdempotencyKey, type OperationMeta } from './operation.ts';
import { signalCommit } from './commit-signals.ts';

/** A mutation that loses a deadlock is run again, up to this many attempts. */
const attemptsMax = 3;

type Caller = { credential: Credential; companyId?: number };
type Call = { operation: string; meta: OperationMeta; getRawInput(): unknown };

/**
 * Runs the body of a mutation in its one transaction, which opens with the body's first statement. `body` behaves as
 * tRPC's next(): it returns a failure instead of throwing it. If an answer is stored for the call's Idempotency-Key,
 * that is returned instead.
 */
export async function runMutation<Result extends { ok: boolean }>(
  ctx: Context & { caller?: Caller },
  { operation, meta, getRawInput }: Call,
  body: (scope: MutationScope) => Promise<Result>,
): Promise<Result> {
  const key = ctx.request.idempotencyKey;
  const { caller } = ctx;
  if (key === undefined || !caller || !honoursIdempotencyKey(meta)) return runInTransaction(ctx, body);
  // Keys belong to one session or API key, so no answer reaches another session of the same person.
  const call = beginIdempotentCall(ctx, nameOf(caller.credential), operation, key, await getRawInput());
  try {
    const stored = await call.findAnswer();
    if (!stored) return await runInTransaction(ctx, body, call);
    ctx.request.setHeader('Idempotency-Replayed', 'true');
    // The body's result, with the stored answer as data.
    return { ok: true, data: stored.answer } as unknown as Result;
  } finally {
    call.end();
  }
}

/** The database as a caller sees it: the rows of their company, or of none. */
export function handlesFor({ database }: Services, { caller }: { caller?: Caller }): Handles {
  return caller?.companyId === undefined ? database : database.forCompany(caller.companyId);
}

async function runInTransaction<Result extends { ok: boolean }>(
  ctx: Context & { caller?: Caller },
  body: (scope: MutationScope) => Promise<Result>,
  call?: ReturnType<typeof beginIdempotentCall>,
): Promise<Result> {
  const { log } = ctx.services;
  for (let attempt = 1; ; attempt += 1) {
    const transaction = handlesFor(ctx.services, ctx).begin(call?.lock);
    const tasks: (() => void)[] = [];
    try {
      const result = await body({
        db: transaction.db,
        // The answer for an Idempotency-Key is stored before the commit.
        finish: (steps) => (call ? inOrder(transaction.db, steps) : transaction.commitBehind(steps)),
        afterCommit: (task) => void tasks.push(task),
      });
      if (!result.ok) throw (result as unknown as { error: unknown }).error;
      await call?.store(transaction.db, (result as unknown as { data: unknown }).data);
      await transaction.commit();
      for (const task of tasks) task();
      signalCommit(ctx.services, transaction.db);
      return result;
    } catch (error) {
      await transaction.rollback().catch((cause: unknown) => log.warn({ err: cause }, 'a rollback failed'));
      if (attempt >= attemptsMax || !isRetryable(error)) throw error;
      log.warn({ err: error, attempt }, 'a transaction lost against another one and is run again');
    }
  }
}
