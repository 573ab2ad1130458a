import { z } from 'zod';
import { rest } from '../../kernel/operation.ts';
import { member } from '../../kernel/procedures.ts';
import { idOf } from '../../kernel/wire/fields.ts';
import { getEmployee as get, toEmployee } from './queries.ts';
import { besideThePerson, Employee } from './schemas.ts';

export const getEmployee = member('people')
  .meta(
    rest('GET /employee/me/{employee_id}/', {
      section: 'Employees',
      summary: 'Read one employee',
      description:
        'Anybody of the company may read anybody of it, inactive and deleted ones too. `salary` is `null` unless the caller is an admin or reads their own record.',
      example: { employee_id: 42 },
      tool: { name: 'people', when: 'employee_id', leavesOut: besideThePerson },
    }),
  )
  .input(z.object({ employee_id: idOf('employee') }))
  .output(Employee)
  .query(async ({ ctx, input }) => {
    const row = await get(ctx.db, ctx.caller.companyId, input.employee_id);
    return toEmployee(row, ctx.caller, ctx.services.settings);
  });
