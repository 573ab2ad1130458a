import { z } from 'zod';
import { NOT_FOUND } from '../../errors/errors.ts';
import { rest } from '../../kernel/operation.ts';
import { member } from '../../kernel/procedures.ts';
import { idOf } from '../../kernel/wire/fields.ts';
import { selectEmployees, toEmployee } from './queries.ts';
import { Employee } from './schemas.ts';
import { sortByName } from './sort-by-name.ts';

export const listInactiveEmployees = member('people')
  .meta(
    rest('GET /employee/list/InactiveUsers/{company_id}/', {
      section: 'Employees',
      summary: 'Inactive employees of the company',
      description: 'Those with `isActive: false`, deleted or not, alphabetical by name.',
      example: { company_id: 1 },
    }),
  )
  .input(z.object({ company_id: idOf('company') }))
  .output(z.object({ employees: z.array(Employee) }))
  .query(async ({ ctx, input }) => {
    const { db, caller, services } = ctx;
    if (input.company_id !== caller.companyId) throw NOT_FOUND();
    const rows = await selectEmployees(db, caller.companyId).where('is_active', '=', false).execute();
    return { employees: sortByName(rows).map((row) => toEmployee(row, caller, services.settings)) };
  });
