import { z } from 'zod';
import { invalid } from '../../errors/errors.ts';
import { noteChange } from '../../kernel/audit-log.ts';
import { rest } from '../../kernel/operation.ts';
import { admin } from '../../kernel/procedures.ts';
import { idOf } from '../../kernel/wire/fields.ts';
import { lockEmployee } from '../employees/queries.ts';
import { weekOfMinutes } from '../time-policies/schemas.ts';
import { listEntries } from './queries.ts';
import { validFrom, WorkingHours } from './schemas.ts';

const entriesMax = 500;

export const setWorkingHours = admin('time')
  .meta(
    rest('PUT /api/working-hours/{employee_id}/', {
      section: 'Additions',
      summary: 'Set the working hours of an employee from a day on',
      description: `For admins. Sets the entry of the day \`validFrom\`, and answers all of them, at most ${entriesMax}. \`minutes\` null deletes it: then the entry before holds, or without one the time policy. Balances follow at once, also for days before today; periods that were handed in keep what was expected then. For an employee who has left, set seven zeros from the day after their last one.`,
      example: { validFrom: '2026-03-01', minutes: [360, 360, 360, 360, 0, 0, 0] },
    }),
  )
  .input(
    z.object({
      employee_id: idOf('employee'),
      validFrom,
      minutes: weekOfMinutes.nullable().meta({
        description: 'Minutes of work that are expected on each day, from Monday to Sunday; null deletes the entry',
      }),
    }),
  )
  .output(WorkingHours)
  .mutation(async ({ ctx, input }) => {
    const { db, caller } = ctx;
    const { companyId } = caller;
    const { employee_id: employeeId, validFrom: day, minutes } = input;
    await lockEmployee(db, companyId, employeeId);
    const entries = await listEntries(db, companyId, employeeId);
    const before = entries.find((one) => one.validFrom === day)?.minutes ?? null;
    const others = entries.filter((one) => one.validFrom !== day);
    if (minutes !== null && others.length >= entriesMax)
      throw invalid(['validFrom'], `must be the day of an entry: the employee has ${entriesMax}`, 'too_big');

    if (minutes === null)
      await db
        .deleteFrom('working_hours')
        .where('company_id', '=', companyId)
        .where('employee_id', '=', employeeId)
        .where('valid_from', '=', day)
        .execute();
    else
      await db
        .insertInto('working_hours')
        .values({ company_id: companyId, employee_id: employeeId, valid_from: day, minutes })
        .onConflict((conflict) =>
          conflict.columns(['company_id', 'employee_id', 'valid_from']).doUpdateSet({ minutes }),
        )
        .execute();
    const entry = (of: number[] | null) => of && { validFrom: day, minutes: of };
    const change = { event: 'working_hours.set', kind: 'employee', id: employeeId };
    if (JSON.stringify(before) !== JSON.stringify(minutes))
      noteChange(db, companyId, { ...change, before: entry(before), after: entry(minutes) });
    return { employee_id: employeeId, entries: await listEntries(db, companyId, employeeId) };
  });
