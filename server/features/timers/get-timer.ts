import { z } from 'zod';
import { FORBIDDEN } from '../../errors/errors.ts';
import { rest } from '../../kernel/operation.ts';
import { member } from '../../kernel/procedures.ts';
import { ownId } from '../../kernel/wire/fields.ts';
import { getEmployee } from '../employees/queries.ts';
import { findTimer, toTimer } from './queries.ts';
import { Timer } from './schemas.ts';

export const getTimer = member('time')
  .meta(
    rest('GET /api/tasklogs/timer/{employee_id}/', {
      section: 'Additions',
      summary: 'The running timer of an employee',
      description: 'Or `{"timer": null}` where none runs. For the employee, team leaders and admins.',
      errors: [FORBIDDEN],
      example: { employee_id: 7 },
      tool: { name: 'timer', action: 'show' },
    }),
  )
  .input(z.object({ employee_id: ownId() }))
  .output(z.union([Timer, z.object({ timer: z.null() })]))
  .query(async ({ ctx, input }) => {
    const { caller, db } = ctx;
    const { employee_id: employeeId } = await getEmployee(db, caller.companyId, input.employee_id);
    if (employeeId !== caller.employeeId && !caller.isTeamLeader && !caller.isAdmin) throw FORBIDDEN();
    const timer = await findTimer(db, caller.companyId, employeeId);
    return timer ? toTimer(timer) : { timer: null };
  });
