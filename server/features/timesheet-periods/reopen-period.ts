import { z } from 'zod';
import type { Db } from '../../../db/open.ts';
import type { Member } from '../../kernel/context.ts';
import { rest } from '../../kernel/operation.ts';
import { admin } from '../../kernel/procedures.ts';
import { idOf, text } from '../../kernel/wire/fields.ts';
import { periodReopened, recordPeriod } from './events.ts';
import { lockPeriod, type Period } from './queries.ts';
import { TimesheetPeriod } from './schemas.ts';

export const reopenPeriod = admin('time')
  .meta(
    rest('POST /api/timesheet-periods/reopen/', {
      section: 'Additions',
      summary: 'Open a period again',
      description:
        'For admins, whatever was decided. Its days are no longer locked by it, and it can be handed in again. The reason is kept with the period and in the audit log. A period that is open stays as it is.',
      changes: [periodReopened],
      example: { period_id: 5, reason: 'A day at the customer was missing' },
    }),
  )
  .input(
    z.object({
      period_id: idOf('period'),
      reason: text({ max: 1_000 }).meta({
        description: 'Why it is reopened',
        examples: ['A day at the customer was missing'],
      }),
    }),
  )
  .output(TimesheetPeriod)
  .mutation(async ({ ctx, input }) => {
    const { db, caller, services } = ctx;
    const period = await lockPeriod(db, caller.companyId, input.period_id);
    if (period.status === 'open') return period;
    return reopen(db, caller, { period, decision: { note: input.reason }, now: services.clock.now() });
  });

/** Opens a locked period again; `decision` is null where it is withdrawn. */
export async function reopen(
  db: Db,
  { companyId, employeeId: actorId }: Member,
  { period, decision, now }: { period: Period; decision: { note: string } | null; now: Date },
): Promise<Period> {
  const change = {
    status: 'open' as const,
    decidedBy: decision && actorId,
    decidedAt: decision && now,
    note: decision && decision.note,
  };
  await db
    .updateTable('timesheet_periods')
    .set({
      state: change.status,
      decided_by_id: change.decidedBy,
      decided_at: change.decidedAt,
      note: change.note,
    })
    .where('company_id', '=', companyId)
    .where('period_id', '=', period._id)
    .execute();
  const after = { ...period, ...change };
  recordPeriod(db, periodReopened, { companyId, actorId, period: after, at: now });
  return after;
}
