import { z } from 'zod';
import { NOT_FOUND } from '../../errors/errors.ts';
import { rest } from '../../kernel/operation.ts';
import { member } from '../../kernel/procedures.ts';
import { idOf } from '../../kernel/wire/fields.ts';
import { selectEmployees, toEmployee } from './queries.ts';
import { besideThePerson, Employee } from './schemas.ts';
import { sortByName } from './sort-by-name.ts';

export const listActiveEmployees = member('people')
  .meta(
    rest('GET /employee/list/activeUsers/{company_id}/', {
      section: 'Employees',
      summary: 'Active employees of the company',
      description:
        'Those with `isActive: true` and `isDeleted: false`, alphabetical by name without regard to case and accents, and the deleted ones, by `_id` and `name` only.',
      example: { company_id: 1 },
      tool: { name: 'people', leavesOut: besideThePerson },
    }),
  )
  .input(z.object({ company_id: idOf('company') }))
  .output(
    z.object({
      employees: z.array(Employee),
      deletedEmployees: z.array(z.object({ _id: idOf('employee'), name: z.string() })),
    }),
  )
  .query(async ({ ctx, input }) => {
    const { db, caller, services } = ctx;
    if (input.company_id !== caller.companyId) throw NOT_FOUND();
    const rows = await selectEmployees(db, caller.companyId)
      .where((eb) => eb.or([eb('is_active', '=', true), eb('is_deleted', '=', true)]))
      .execute();
    const { active = [], deleted = [] } = Object.groupBy(sortByName(rows), (row) =>
      row.is_deleted ? 'deleted' : 'active',
    );
    return {
      employees: active.map((row) => toEmployee(row, caller, services.settings)),
      deletedEmployees: deleted.map((row) => ({ _id: row.employee_id, name: row.name })),
    };
  });
