import { z } from 'zod';
import { recomputeTaskCounts } from '../../../db/derived/task-counts.ts';
import { recomputeWorkDays } from '../../../db/derived/work-time.ts';
import type { Member, MutationScope, Services } from '../../kernel/context.ts';
import { createFairQueue } from '../../platform/fair-queue.ts';
import { invalid, NOT_FOUND, OVERLOADED } from '../../errors/errors.ts';
import { rest } from '../../kernel/operation.ts';
import { admin } from '../../kernel/procedures.ts';
import { recordChange } from '../../kernel/change-event.ts';
import { changeStream } from '../../kernel/change-streams.ts';
import { idOf, isEmptyUpdate, name } from '../../kernel/wire/fields.ts';
import { planMorningOf } from '../mornings/plan-mornings.ts';
import { companyUpdated, findCompanyChanges } from './events.ts';
import { notifyCompany } from './notices.ts';
import { companyColumns, getCompany, isStorableTimezone, lockCompany, toCompany } from './queries.ts';
import { Company, timezone, unknownTimezone } from './schemas.ts';

export const updateCompany = admin('company')
  .meta(
    rest('PUT /company/{company_id}/update/', {
      section: 'Company',
      summary: 'Change the name or the time zone of the company',
      description:
        'For admins. Either field may be left out and keeps its value then; without both nothing changes. The time zone is an IANA name: days and weeks of the company are counted in it, and all earlier ones are recomputed before the answer; time that is logged during that waits. Changes of the time zone are made one after another; with four of a company waiting, a further one is answered 503. Offsets and POSIX rules are refused. All other employees are notified of what has changed.',
      errors: [OVERLOADED],
      changes: [companyUpdated],
      example: { company_id: 42, name: 'Analytical Engines', timezone: 'Europe/London' },
    }),
  )
  .input(z.object({ company_id: idOf('company'), name: name({ max: 200 }).optional(), timezone: timezone.optional() }))
  .output(Company)
  .mutation(async ({ ctx, input }) => {
    if (input.company_id !== ctx.caller.companyId) throw NOT_FOUND();
    if (isEmptyUpdate(input, 'company_id')) return toCompany(await getCompany(ctx.db, ctx.caller.companyId));
    const change = () => changeCompany(ctx, input);
    // Waits without a connection: many changes that wait for one company's row would leave no connection for others.
    return input.timezone === undefined ? change() : timezoneChanges([String(ctx.caller.companyId)], change);
  });

/** Recomputing all days of a company may take seconds, so each company runs one such change at a time. */
const timezoneChanges = createFairQueue({ running: 2, waiting: 16, waitingPerKey: 4 });

type Change = { name?: string; timezone?: string };

async function changeCompany(
  { db, caller, services }: Pick<MutationScope, 'db'> & { caller: Member; services: Services },
  input: Change,
): Promise<z.input<typeof Company>> {
  if (input.timezone !== undefined && !(await isStorableTimezone(db, input.timezone)))
    throw invalid(['timezone'], unknownTimezone, 'invalid_value');
  const { companyId, employeeId: actorId } = caller;
  const now = services.clock.now();
  const before = toCompany(await lockCompany(db, companyId));
  const row = await db
    .updateTable('companies')
    .set({ name: input.name, timezone: input.timezone, updated_at: now })
    .where('company_id', '=', companyId)
    .returning(companyColumns)
    .executeTakeFirstOrThrow();
  // Which tasks were done in time depends on days.
  if (row.timezone !== before.timezone) {
    await recomputeTaskCounts(db, companyId);
    await recomputeWorkDays(db, companyId);
    await planMorningOf(db, companyId, now);
  }
  const after = toCompany(row);
  const changes = findCompanyChanges(before, after);
  if (!changes) return after;
  recordChange(db, companyUpdated, {
    companyId,
    streams: [changeStream.company(companyId)],
    payload: { actorId, companyId, company: after, changes },
    at: now,
  });
  const to = { name: changes.name?.after, timezone: changes.timezone?.after };
  await notifyCompany(db, { companyId, actorId, to }, now);
  return after;
}
