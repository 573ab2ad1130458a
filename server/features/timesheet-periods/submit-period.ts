import { sql } from 'kysely';
import { z } from 'zod';
import { lockDays } from '../../../db/derived/work-time.ts';
import type { Db } from '../../../db/open.ts';
import { FORBIDDEN, invalid, notFoundIn } from '../../errors/errors.ts';
import { rest } from '../../kernel/operation.ts';
import { member } from '../../kernel/procedures.ts';
import { idOf } from '../../kernel/wire/fields.ts';
import { day } from '../../kernel/wire/moments.ts';
import { checkMayWrite } from '../task-logs/writers.ts';
import { ensurePolicy, readPolicy, type PolicyRow } from '../time-policies/queries.ts';
import { PERIOD_SUBMITTED, PERIOD_TIMER_RUNNING } from './errors.ts';
import { periodDecided, periodSubmitted, recordPeriod } from './events.ts';
import { enqueueSubmitted } from './jobs.ts';
import { selectPeriods, toPeriod } from './queries.ts';
import { TimesheetPeriod } from './schemas.ts';

export const submitPeriod = member
  .meta(
    rest('POST /api/timesheet-periods/submit/', {
      section: 'Additions',
      summary: 'Hand in the time of a period',
      description:
        'By the employee whose time it is, a team leader or an admin. `period_start` is the first day of a week or month, as the time policy says, that has begun. From then on the days of the period are locked. What is logged in it is kept by day and project. Where the policy requires approval, approvers are notified; otherwise the period is approved at once. A period that was rejected or is open again is handed in the same way.',
      errors: [FORBIDDEN, PERIOD_SUBMITTED, PERIOD_TIMER_RUNNING],
      changes: [periodSubmitted, periodDecided],
      example: { employee_id: 7, period_start: '2026-01-05' },
    }),
  )
  .input(
    z.object({
      employee_id: idOf('employee'),
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

type Asked = { companyId: number; employeeId: number; firstDay: string; policy: PolicyRow; now: Date };
type Facts = { starts: string; ends: string; has_begun: boolean; is_submitted: boolean; has_timer: boolean };

/** The period that contains the day, and what stands against handing it in. */
async function readFacts(db: Db, { companyId, employeeId, firstDay, policy, now }: Asked): Promise<Facts> {
  const { rows } = await sql<Facts>`
    select d.starts, d.ends, d.starts <= local_day(${now}, c.timezone) as has_begun,
      exists (
        select from timesheet_periods as p
        where p.company_id = c.company_id and p.employee_id = ${employeeId} and p.first_day <= d.ends
          and p.last_day >= d.starts and p.state in ('submitted', 'approved')
      ) as is_submitted,
      exists (
        select from timers as t
        where t.company_id = c.company_id and t.employee_id = ${employeeId}
          and t.start_time < local_day_start(d.ends + 1, c.timezone)
          and ${now} >= local_day_start(d.starts, c.timezone)
      ) as has_timer
    from companies as c cross join (
      select period_start(${firstDay}::date, ${policy.period}, ${policy.week_start}) as starts,
        period_end(${firstDay}::date, ${policy.period}, ${policy.week_start}) as ends
    ) as d
    where c.company_id = ${companyId}`.execute(db);
  return rows[0]!;
}

type NewPeriod = Asked & { lastDay: string; actorId: number };

/** Stores the period in place of what is open of its days: they may have belonged to periods of another length. */
async function storePeriod(db: Db, period: NewPeriod): Promise<void> {
  const { companyId, employeeId, firstDay, lastDay, policy, actorId, now } = period;
  await db
    .deleteFrom('timesheet_periods')
    .where('company_id', '=', companyId)
    .where('employee_id', '=', employeeId)
    .where('first_day', '!=', firstDay)
    .where('first_day', '<=', lastDay)
    .where('last_day', '>=', firstDay)
    .execute();
  const values = {
    last_day: lastDay,
    state: policy.require_approval ? 'submitted' : 'approved',
    submitted_by_id: actorId,
    submitted_at: now,
    decided_by_id: null,
    decided_at: policy.require_approval ? null : now,
    note: null,
    expected_minutes: expectedIn(firstDay, lastDay, policy.expected_minutes),
    snapshot: sql<string>`period_snapshot(${companyId}, ${employeeId}, ${firstDay}::date, ${lastDay}::date)`,
  };
  await db
    .insertInto('timesheet_periods')
    .values({ company_id: companyId, employee_id: employeeId, first_day: firstDay, ...values })
    .onConflict((conflict) => conflict.columns(['company_id', 'employee_id', 'first_day']).doUpdateSet(values))
    .execute();
}

const dayMs = 24 * 3600 * 1000;

/** The sum of the minutes that are expected on the days, from Monday to Sunday. */
function expectedIn(firstDay: string, lastDay: string, minutes: readonly number[]): number {
  let total = 0;
  for (let at = Date.parse(firstDay); at <= Date.parse(lastDay); at += dayMs)
    total += minutes[(new Date(at).getUTCDay() + 6) % 7]!;
  return total;
}
