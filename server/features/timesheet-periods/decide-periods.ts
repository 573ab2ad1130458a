import { sql } from 'kysely';
import { z } from 'zod';
import type { Db } from '../../../db/open.ts';
import { FORBIDDEN, notFoundIssue, validationFailed } from '../../errors/errors.ts';
import type { Member } from '../../kernel/context.ts';
import { rest } from '../../kernel/operation.ts';
import { member } from '../../kernel/procedures.ts';
import { idOf, text } from '../../kernel/wire/fields.ts';
import { hasAnotherAdmin } from '../employees/employment.ts';
import { readPolicy } from '../time-policies/queries.ts';
import { periodDecided, recordPeriod } from './events.ts';
import { enqueueDecided } from './jobs.ts';
import { currentSnapshot, isApprover, lockPeriods, selectPeriods, toPeriod, type Period } from './queries.ts';

const periodsMax = 500;
const size = `must have 1 to ${periodsMax} periods`;
const decisions = { approve: 'approved', reject: 'rejected' } as const;

export const decidePeriods = member('time')
  .meta(
    rest('POST /api/timesheet-periods/decide/', {
      section: 'Additions',
      summary: 'Approve or reject periods',
      description: `For team leaders and admins, or for admins alone, as the time policy says. Up to ${periodsMax} periods at once, with a result for each in the same order: one that is not waiting for a decision is left alone (\`not_submitted\`), and so is one’s own (\`own_time\`), unless the caller is the only active admin. An approved period keeps what is logged in it at that moment. A rejected one is no longer locked. Employees are notified.`,
      errors: [FORBIDDEN],
      changes: [periodDecided],
      example: { period_ids: [5], decision: 'approve', note: 'Thank you' },
      tool: { name: 'submit_week', action: 'decide' },
    }),
  )
  .input(
    z.object({
      period_ids: z.array(idOf('period')).min(1, size).max(periodsMax, size).meta({ description: 'The periods' }),
      decision: z.enum(['approve', 'reject']).meta({ description: 'What becomes of all of them' }),
      note: text({ min: 0, max: 1_000 })
        .nullish()
        .meta({ description: 'What the employees are told; null for nothing', examples: ['Thank you'] }),
    }),
  )
  .output(
    z.object({
      results: z
        .array(
          z.object({
            period_id: idOf('period'),
            result: z
              .enum(['approved', 'rejected', 'not_submitted', 'own_time'])
              .meta({ description: 'What became of it', examples: ['approved'] }),
          }),
        )
        .meta({ description: 'A result for each period, in the order of the request' }),
    }),
  )
  .mutation(async ({ ctx, input }) => {
    const { db, caller, services } = ctx;
    const { companyId, employeeId: actorId } = caller;
    const now = services.clock.now();
    if (!isApprover(caller, await readPolicy(db, companyId)))
      throw FORBIDDEN({ detail: 'The time policy has others decide on periods.' });
    const periods = await lockAll(db, companyId, input.period_ids);
    const refusalOf = await createRefusals(db, caller, periods);
    const toDecide = periods.filter((period) => refusalOf(period) === undefined).map(({ _id }) => _id);

    const state = decisions[input.decision];
    const change = { state, decided_by_id: actorId, decided_at: now, note: input.note ?? null };
    await db
      .updateTable('timesheet_periods')
      .set({ ...change, ...(state === 'approved' ? { snapshot: currentSnapshot } : {}) })
      .where('company_id', '=', companyId)
      .where('period_id', '=', sql<number>`any(${toDecide}::bigint[])`)
      .execute();
    const decided = await selectPeriods(db, companyId)
      .where('p.period_id', '=', sql<number>`any(${toDecide}::bigint[])`)
      .orderBy('p.period_id')
      .execute();
    for (const row of decided) recordPeriod(db, periodDecided, { companyId, actorId, period: toPeriod(row), at: now });
    await enqueueDecided(db, { companyId, actorId, periods: decided.map(toPeriod) }, now);
    const results = periods.map((period) => ({ period_id: period._id, result: refusalOf(period) ?? state }));
    return { results };
  });

/** The periods in the order of the identifiers; one that names nothing is an issue. */
async function lockAll(db: Db, companyId: number, periodIds: number[]): Promise<Period[]> {
  const periods = await lockPeriods(db, companyId, periodIds);
  const missing = periodIds.flatMap((periodId, index) => (periods.has(periodId) ? [] : [index]));
  if (missing.length > 0) throw validationFailed(missing.map((index) => notFoundIssue('period_ids', index)));
  return periodIds.map((periodId) => periods.get(periodId)!);
}

/** Says why a period is not decided on, if it is not. */
async function createRefusals(db: Db, caller: Member, periods: readonly Period[]) {
  const { companyId, employeeId: callerId, isAdmin } = caller;
  const hasOwn = periods.some((period) => period.employee_id === callerId);
  const mayDecideOwn = hasOwn && isAdmin && !(await hasAnotherAdmin(db, companyId, callerId));
  return ({ status, employee_id: employeeId }: Period): 'not_submitted' | 'own_time' | undefined => {
    if (status !== 'submitted') return 'not_submitted';
    return employeeId === callerId && !mayDecideOwn ? 'own_time' : undefined;
  };
}
