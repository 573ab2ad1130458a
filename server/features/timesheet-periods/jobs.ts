import { z } from 'zod';
import type { Db } from '../../../db/open.ts';
import { inTransaction } from '../../kernel/in-transaction.ts';
import { enqueueJob, enqueueJobs, jobHandler, type AnyJobHandler } from '../../kernel/job.ts';
import { id } from '../../kernel/wire/fields.ts';
import { notify } from '../notifications/notify.ts';
import { readPolicy } from '../time-policies/queries.ts';
import type { Period } from './queries.ts';

const Payload = z.object({
  companyId: id,
  actorId: id,
  periodId: id,
  employeeId: id,
  /** Tells this change of the period from others. */
  at: z.iso.datetime(),
});

const daysOf = ({ firstDay, lastDay }: { firstDay: string; lastDay: string }): string => `${firstDay} to ${lastDay}`;

/** Notifies the approvers of a period that was handed in. Who they are is looked up when the job runs. */
const periodSubmitted = jobHandler({
  name: 'period-submitted',
  payload: Payload.extend({ name: z.string(), days: z.string() }),
  async run(services, { companyId, actorId, periodId, employeeId, at, name, days }) {
    const { clock, settings } = services;
    await inTransaction(services, companyId, async (db) => {
      const approvers = await listApprovers(db, companyId);
      const notifications = approvers
        .filter((one) => one.employee_id !== employeeId && one.employee_id !== actorId)
        .map(({ employee_id: recipientId }) => ({
          recipientId,
          cause: `period ${periodId} submitted ${at}`,
          appType: 'hr' as const,
          category: 'need_attention' as const,
          priority: 'primary' as const,
          title: `Time of ${name} waits for approval`,
          message: `The time from ${days} was handed in.`,
          link: `${settings.appUrl}/timesheet-periods/${periodId}`,
          actorId,
        }));
      await notify(db, companyId, notifications, clock.now());
    });
  },
});

/** Notifies the employee of a decision. */
const periodDecided = jobHandler({
  name: 'period-decided',
  payload: Payload.extend({ state: z.enum(['approved', 'rejected']), days: z.string(), note: z.string().nullable() }),
  async run(services, { companyId, actorId, periodId, employeeId, at, state, days, note }) {
    const { clock, settings } = services;
    const notification = {
      recipientId: employeeId,
      cause: `period ${periodId} decided ${at}`,
      appType: 'hr' as const,
      category: 'need_attention' as const,
      priority: 'primary' as const,
      title: `Your time was ${state}`,
      message: note ?? `The time from ${days} was ${state}.`,
      link: `${settings.appUrl}/timesheet-periods/${periodId}`,
      actorId,
    };
    await inTransaction(services, companyId, (db) => notify(db, companyId, [notification], clock.now()));
  },
});

async function listApprovers(db: Db, companyId: number): Promise<{ employee_id: number }[]> {
  const { approver } = await readPolicy(db, companyId);
  return db
    .selectFrom('employees')
    .where('company_id', '=', companyId)
    .where('is_active', '=', true)
    .where('is_deleted', '=', false)
    .where(({ eb, or }) =>
      or([eb('is_admin', '=', true), ...(approver === 'teamLeader' ? [eb('is_team_leader', '=', true)] : [])]),
    )
    .select('employee_id')
    .execute();
}

type Change = { companyId: number; actorId: number };

export async function enqueueSubmitted(
  db: Db,
  { companyId, actorId, period }: Change & { period: Period },
  now: Date,
): Promise<void> {
  const payload = { ...payloadOf(companyId, actorId, period, now), name: period.name };
  await enqueueJob(db, periodSubmitted, { dedupeKey: keyOf(companyId, period, now), payload, now });
}

/** One job for each period, but for the caller's own. */
export async function enqueueDecided(
  db: Db,
  { companyId, actorId, periods }: Change & { periods: readonly Period[] },
  now: Date,
): Promise<void> {
  const jobs = periods
    .filter((period) => period.employee_id !== actorId)
    .map((period) => ({
      dedupeKey: keyOf(companyId, period, now),
      payload: {
        ...payloadOf(companyId, actorId, period, now),
        state: period.status as 'approved' | 'rejected',
        note: period.note,
      },
    }));
  await enqueueJobs(db, periodDecided, jobs, now);
}

const keyOf = (companyId: number, { _id }: Period, now: Date): string => `${companyId} ${_id} ${now.toISOString()}`;

const payloadOf = (companyId: number, actorId: number, period: Period, now: Date) => ({
  companyId,
  actorId,
  periodId: period._id,
  employeeId: period.employee_id,
  at: now.toISOString(),
  days: daysOf(period),
});

export const handlers: AnyJobHandler[] = [periodSubmitted, periodDecided];
