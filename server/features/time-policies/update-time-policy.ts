import { z } from 'zod';
import { noteChange } from '../../kernel/audit-log.ts';
import { NOT_FOUND } from '../../errors/errors.ts';
import { rest } from '../../kernel/operation.ts';
import { admin } from '../../kernel/procedures.ts';
import { idOf, isEmptyUpdate } from '../../kernel/wire/fields.ts';
import { ensurePolicy, lockPolicy, readPolicy, toPolicy, type PolicyRow } from './queries.ts';
import { policyFields, TimePolicy, weekdays } from './schemas.ts';

const { shape: fields } = z.object(policyFields).partial();

export const updateTimePolicy = admin('time')
  .meta(
    rest('PUT /api/time-policy/{company_id}/', {
      section: 'Additions',
      summary: 'Change how time is handed in and locked',
      description:
        'For admins. Fields that are left out keep their values. It holds for all days from then on, also for those before; periods that were handed in keep their days. A day is locked by its age when more than `lockAfterDays` + `graceDays` days have passed since the last day of its period, in the time zone of the company and by the clock of the database.',
      example: { period: 'week', weekStart: 'monday', graceDays: 3, approver: 'teamLeader', requireApproval: true },
    }),
  )
  .input(z.object({ company_id: idOf('company'), ...fields }))
  .output(TimePolicy)
  .mutation(async ({ ctx, input }) => {
    const { db, caller } = ctx;
    const { companyId } = caller;
    if (input.company_id !== companyId) throw NOT_FOUND();
    if (isEmptyUpdate(input, 'company_id')) return toPolicy(db, companyId, await readPolicy(db, companyId));
    await ensurePolicy(db, companyId);
    const before = await lockPolicy(db, companyId);
    const after = changed(before, input);
    await db.updateTable('time_policies').set(after).where('company_id', '=', companyId).execute();
    const change = { event: 'time_policy.updated', kind: 'time_policy', id: companyId };
    noteChange(db, companyId, { ...change, ...differences(before, after) });
    return toPolicy(db, companyId, after);
  });

type Given = z.output<z.ZodObject<typeof fields>>;

function changed(row: PolicyRow, given: Given): PolicyRow {
  const { weekStart, lockAfterDays: lock_after_days = row.lock_after_days } = given;
  return {
    period: given.period ?? row.period,
    week_start: weekStart === undefined ? row.week_start : weekdays.indexOf(weekStart) + 1,
    lock_after_days,
    grace_days: given.graceDays ?? row.grace_days,
    approver: given.approver ?? row.approver,
    require_approval: given.requireApproval ?? row.require_approval,
    expected_minutes: given.expectedMinutes ?? row.expected_minutes,
  };
}

/** The columns that differ, with both values, for the audit log. */
function differences(before: PolicyRow, after: PolicyRow) {
  const names = (Object.keys(after) as (keyof PolicyRow)[]).filter(
    (name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]),
  );
  const of = (row: PolicyRow) => Object.fromEntries(names.map((name) => [name, row[name]]));
  return { before: of(before), after: of(after) };
}
