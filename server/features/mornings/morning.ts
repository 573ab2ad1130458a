import { sql } from 'kysely';
import { z } from 'zod';
import type { Db } from '../../../db/open.ts';
import { enqueueJob, jobHandler, type AnyJobHandler, type JobHandler } from '../../kernel/job.ts';
import { inTransaction } from '../../kernel/in-transaction.ts';
import { id } from '../../kernel/wire/fields.ts';
import { day } from '../../kernel/wire/moments.ts';
import { mailExpiringKeys } from './expiring-keys.ts';
import { notify } from '../notifications/notify.ts';
import { batchSize, type Position, type MorningNotice } from './batch.ts';
import { listDueTomorrow, listOverdue } from './due-tasks.ts';
import { listUnsubmitted } from './period-end.ts';
import { listTrialNotices } from './trial-notices.ts';

const steps = ['due_tomorrow', 'overdue', 'trial', 'period_end', 'expiring_keys', 'done'] as const;
type Step = (typeof steps)[number];

/** The notifications of a step. Keys that expire are told of by mail alone. */
const listOf: Record<
  Exclude<Step, 'expiring_keys' | 'done'>,
  (db: Db, position: Position) => Promise<MorningNotice[]>
> = {
  due_tomorrow: listDueTomorrow,
  overdue: listOverdue,
  trial: listTrialNotices,
  period_end: listUnsubmitted,
};

/**
 * Creates one batch of a company's morning notifications, and enqueues the next batch behind other jobs. The row lock
 * lets only one of several runs take a batch.
 */
export const morning: JobHandler<{ companyId: number; day: string }> = jobHandler({
  name: 'morning',
  payload: z.object({ companyId: id, day }),
  async run(services, { companyId, day: today }) {
    const { clock, settings } = services;
    const now = clock.now();
    await inTransaction(services, companyId, async (db) => {
      const at = await lockMorning(db, companyId, today);
      if (!at || at.step === 'done') return;
      let told: MorningNotice[] = [];
      if (at.step === 'expiring_keys') await mailExpiringKeys(db, { companyId, day: today, now });
      else told = await listOf[at.step](db, { companyId, day: today, ...at, settings });
      const notifications = told.map(({ notification }) => notification);
      await notify(db, companyId, notifications, now);
      const next = nextOf(at.step, told);
      await moveOn(db, { companyId, day: today, ...next });
      if (next.step === 'done') return;
      const dedupeKey = `${companyId} ${today} ${next.step} ${next.afterTaskId} ${next.afterEmployeeId}`;
      await enqueueJob(db, morning, { dedupeKey, payload: { companyId, day: today }, now });
    });
  },
});

type Next = { step: Step; afterTaskId: number; afterEmployeeId: number };

/** A batch that is not full is the last of its step. */
function nextOf(step: Exclude<Step, 'done'>, told: MorningNotice[]): Next {
  const last = told.at(-1);
  if (!last || told.length < batchSize)
    return { step: steps[steps.indexOf(step) + 1]!, afterTaskId: 0, afterEmployeeId: 0 };
  return { step, afterTaskId: last.taskId, afterEmployeeId: last.notification.recipientId };
}

async function lockMorning(db: Db, companyId: number, today: string): Promise<Next | undefined> {
  const { rows } = await sql<Next>`
    select step, after_task_id as "afterTaskId", after_employee_id as "afterEmployeeId"
    from company_mornings where company_id = ${companyId} and day = ${today} for update`.execute(db);
  return rows[0];
}

async function moveOn(
  db: Db,
  { companyId, day: today, step, afterTaskId, afterEmployeeId }: Next & { companyId: number; day: string },
): Promise<void> {
  await db
    .updateTable('company_mornings')
    .set({ step, after_task_id: afterTaskId, after_employee_id: afterEmployeeId })
    .where('company_id', '=', companyId)
    .where('day', '=', today)
    .execute();
}

export const handlers: AnyJobHandler[] = [morning];
