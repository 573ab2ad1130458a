import { z } from 'zod';
import { lockDays } from '../../../db/derived/work-time.ts';
import type { Db } from '../../../db/open.ts';
import { FORBIDDEN, invalid, notFoundIn } from '../../errors/errors.ts';
import { rest } from '../../kernel/operation.ts';
import { member } from '../../kernel/procedures.ts';
import { ownId } from '../../kernel/wire/fields.ts';
import { day } from '../../kernel/wire/moments.ts';
import { checkMayWrite } from '../task-logs/writers.ts';
import { ensurePolicy, readPolicy } from '../time-policies/queries.ts';
import { PERIOD_SUBMITTED, PERIOD_TIMER_RUNNING } from './errors.ts';
import { periodDecided, periodSubmitted, recordPeriod } from './events.ts';
import { enqueueSubmitted } from './jobs.ts';
import { readFacts, storePeriod } from './new-period.ts';
import { selectPeriods, toPeriod } from './queries.ts';
import { TimesheetPeriod } from './schemas.ts';

export const submitPeriod = member('time')
  .meta(
    rest('POST /api/timesheet-periods/submit/', {
      section: 'Additions',
      summary: 'Hand in the time of a period',
      description:
        'By the employee whose time it is, a team leader or an admin. `period_start` is the first day of a week or month, as the time policy says, that has begun. From then on the days of the period are locked. What is logged in it is kept by day and project. Where the policy requires approval, approvers are notified; otherwise the period is approved at once. A period that was rejected or is open again is handed in the same way.',
      errors: [FORBIDDEN, PERIOD_SUBMITTED, PERIOD_TIMER_RUNNING],
      changes: [periodSubmitted, periodDecided],
      example: { employee_id: 7, period_start: '2026-01-05' },
      tool: { name: 'submit_week', action: 'submit', leavesOut: ['snapshot'] },
    }),
  )
  .input(
    z.object({
      employee_id: ownId(),
      period_start: day.meta({ description: 'The first day of the period', format: 'date', examples: ['2026-01-05'] }),
    }),
  )
  .output(TimesheetPeriod)
  .mutation(async ({ ctx, input }) => {
    const { db, caller, services } = ctx;
    const { companyId, employeeId: actorId } = caller;
    const { employee_id: employeeId, period_start: firstDay } = input;
    const now = services.clock.now();
    if (!(await lockEmployeeRow(db, companyId, employeeId))) throw notFoundIn('employee_id');
    checkMayWrite(caller, employeeId);
    await ensurePolicy(db, companyId);
    await lockDays(db, companyId, [employeeId]);

    const policy = await readPolicy(db, companyId);
    const facts = await readFacts(db, { companyId, employeeId, firstDay, policy, now });
    if (facts.starts !== firstDay) {
      const unit = policy.period === 'week' ? 'a week' : 'a month';
      throw invalid(['period_start'], `must be the first day of ${unit}, such as ${facts.starts}`, 'out_of_range');
    }
    if (!facts.has_begun) throw invalid(['period_start'], 'must not be in the future', 'out_of_range');
    if (facts.is_submitted) throw PERIOD_SUBMITTED();
    if (facts.has_timer) throw PERIOD_TIMER_RUNNING();

    const { ends: lastDay } = facts;
    await storePeriod(db, { companyId, employeeId, firstDay, lastDay, policy, actorId, now });
    const row = await selectPeriods(db, companyId)
      .where('p.employee_id', '=', employeeId)
      .where('p.first_day', '=', firstDay)
      .executeTakeFirstOrThrow();
    const period = toPeriod(row);
    recordPeriod(db, periodSubmitted, { companyId, actorId, period, at: now });
    if (policy.require_approval) await enqueueSubmitted(db, { companyId, actorId, period }, now);
    else recordPeriod(db, periodDecided, { companyId, actorId: null, period, at: now });
    return period;
  });

/** Locks the row before the days, because inserting a period refers to it. */
async function lockEmployeeRow(db: Db, companyId: number, employeeId: number): Promise<boolean> {
  const row = await db
    .selectFrom('employees')
    .where('company_id', '=', companyId)
    .where('employee_id', '=', employeeId)
    .select('employee_id')
    .forKeyShare()
    .executeTakeFirst();
  return row !== undefined;
}
