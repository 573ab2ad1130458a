import { z } from 'zod';
import { invalid, NOT_FOUND } from '../../kernel/faults.ts';
import { rest } from '../../kernel/operation.ts';
import { admin } from '../../kernel/procedures.ts';
import { id, text } from '../../kernel/wire.ts';
import { recountDays } from '../task-logs/recount-days.ts';
import { recountTasks } from '../tasks/task-counts.ts';
import { companyColumns, isStorableTimezone, lockTimezone, toCompany } from './queries.ts';
import { Company, timezone, unknownTimezone } from './schemas.ts';

export const updateCompany = admin
  .meta(
    rest('PUT /company/{company_id}/update/', {
      section: 'Company',
      summary: 'Change the name or the time zone of the company',
      description:
        'For admins. Either field may be left out and keeps its value then; at least one must be sent. The time zone is an IANA name: days and weeks of the company are counted in it, and all that were counted before are counted anew before the answer; time that is logged meanwhile waits for that. Offsets and POSIX rules are refused.',
      example: { company_id: 42, name: 'Analytical Engines', timezone: 'Europe/London' },
    }),
  )
  .input(
    z
      .object({ company_id: id, name: text({ max: 200 }).optional(), timezone: timezone.optional() })
      .refine(({ name, timezone: zone }) => name !== undefined || zone !== undefined, 'name or timezone must be sent'),
  )
  .output(Company)
  .mutation(async ({ ctx, input }) => {
    if (input.company_id !== ctx.caller.companyId) throw NOT_FOUND();
    if (input.timezone !== undefined && !(await isStorableTimezone(ctx.db, input.timezone)))
      throw invalid(['timezone'], unknownTimezone);
    const before = await lockTimezone(ctx.db, ctx.caller.companyId);
    const row = await ctx.db
      .updateTable('companies')
      .set({ name: input.name, timezone: input.timezone, updated_at: ctx.services.clock.now() })
      .where('company_id', '=', ctx.caller.companyId)
      .returning(companyColumns)
      .executeTakeFirstOrThrow();
    // Which tasks were done in time is a matter of days.
    if (row.timezone !== before) {
      await recountTasks(ctx.db, ctx.caller.companyId);
      await recountDays(ctx.db, ctx.caller.companyId);
    }
    return toCompany(row);
  });
