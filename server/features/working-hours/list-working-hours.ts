import { z } from 'zod';
import { FORBIDDEN } from '../../errors/errors.ts';
import { rest } from '../../kernel/operation.ts';
import { member } from '../../kernel/procedures.ts';
import { ownId } from '../../kernel/wire/fields.ts';
import { checkMayRead, listEntries } from './queries.ts';
import { WorkingHours } from './schemas.ts';

export const listWorkingHours = member('time')
  .meta(
    rest('GET /api/working-hours/{employee_id}/', {
      section: 'Additions',
      summary: 'The working hours of an employee',
      description: 'For the employee, team leaders and admins. See [the guide](/docs/guides/time-periods).',
      errors: [FORBIDDEN],
    }),
  )
  .input(z.object({ employee_id: ownId() }))
  .output(WorkingHours)
  .query(async ({ ctx, input }) => {
    const { db, caller } = ctx;
    const { employee_id: employeeId } = input;
    await checkMayRead(db, caller, employeeId);
    return { employee_id: employeeId, entries: await listEntries(db, caller.companyId, employeeId) };
  });
