import type { Db, Handles } from '../../db/open.ts';
import { inOrder, type Steps } from '../../db/pipeline/in-order.ts';
import type { LazyTransaction } from '../../db/transaction.ts';
import { nameOf } from '../platform/credential.ts';
import type { Context, MutationScope, Services } from './context.ts';
import { beginIdempotentCall } from './idempotency.ts';
import { honoursIdempotencyKey, type OperationMeta } from './operation.ts';
import { recordedTypes } from './append-event.ts';
import { auditMutation, notAudited, type AuditedCaller, type WriteAudit } from './audit.ts';
import { commitWithEvents, lastSteps } from './in-transaction.ts';
import { signalCommit } from './commit-signals.ts';
import { retryLost } from './retry-lost.ts';

type Caller = AuditedCaller;
type Call = { operation: string; meta: OperationMeta; getRawInput(): unknown };
/** What is done right before the commit. */
type Ending = { audit: WriteAudit; check: (db: Db) => void };

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
  const audit = meta.notAudited === undefined ? auditMutation(ctx, operation, getRawInput) : notAudited;
  const ending = { audit, check: (db: Db) => checkRecorded(ctx.services, { operation, meta }, db) };
  if (key === undefined || !caller || !honoursIdempotencyKey(meta)) return runInTransaction(ctx, ending, body);
  // Keys belong to one session or API key, so no answer reaches another session of the same person.
  const whose = {
    caller: nameOf(caller.credential),
    companyId: caller.companyId ?? caller.membership?.companyId ?? null,
  };
  const call = beginIdempotentCall(ctx, whose, operation, key, await getRawInput());
  try {
    const stored = await call.findAnswer();
    if (!stored) return await runInTransaction(ctx, ending, body, call);
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
  { audit, check }: Ending,
  body: (scope: MutationScope) => Promise<Result>,
  call?: ReturnType<typeof beginIdempotentCall>,
): Promise<Result> {
  return retryLost(ctx.services, async () => {
    const transaction = handlesFor(ctx.services, ctx).begin(call?.lock);
    const tasks: (() => void)[] = [];
    let isFinished = false;
    const finish = async <const Answers extends readonly unknown[]>(steps: Steps<Answers>) => {
      check(transaction.db);
      // The answer for an Idempotency-Key is stored before the commit.
      if (call) return inOrder(transaction.db, steps);
      const answers = await finishWithEvents(transaction, audit, steps);
      isFinished = true;
      return answers;
    };
    try {
      const result = await body({
        db: transaction.db,
        finish,
        afterCommit: (task) => void tasks.push(task),
      });
      if (!result.ok) throw (result as unknown as { error: unknown }).error;
      check(transaction.db);
      await call?.store(transaction.db, (result as unknown as { data: unknown }).data);
      if (!isFinished) await commitWithEvents(transaction, audit);
      for (const task of tasks) task();
      signalCommit(ctx.services, transaction.db);
      return result;
    } catch (error) {
      await transaction.rollback();
      throw error;
    }
  });
}

/** Reports change events that the operation does not declare, as errors that it does not: tests fail on them. */
function checkRecorded(
  { onUndeclaredError }: Services,
  { operation, meta }: Pick<Call, 'operation' | 'meta'>,
  db: Db,
): void {
  for (const type of recordedTypes(db))
    if (!meta.changes?.some((event) => event.type === type)) onUndeclaredError(operation, type);
}

/** The last statements of a mutation, behind them its row of the audit log, those of its events, and COMMIT. */
async function finishWithEvents<const Answers extends readonly unknown[]>(
  transaction: LazyTransaction,
  audit: WriteAudit,
  steps: Steps<Answers>,
): Promise<Answers> {
  const own = steps as readonly (() => unknown)[];
  const behind = lastSteps(transaction.db, audit);
  return (await transaction.commitBehind([...own, ...behind])).slice(0, steps.length) as unknown as Answers;
}
