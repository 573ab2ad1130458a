import { z } from 'zod';
import { SESSION_BOUND, SESSION_REQUIRED } from '../../errors/errors.ts';
import { rest } from '../../kernel/operation.ts';
import { accountOf, admin } from '../../kernel/procedures.ts';
import { idOf } from '../../kernel/wire/fields.ts';
import { endSessionsOf } from '../memberships/end-access.ts';
import { getEmployee } from './queries.ts';

export const endSessions = admin('no key')
  .meta(
    rest('DELETE /api/employees/{_id}/sessions/', {
      section: 'Additions',
      summary: 'End the sessions of an employee',
      description:
        'All of them in this company, at once and on every node; `ended` says how many were live. Sessions of the employee’s account in other companies go on, and the employee can sign in again.',
      errors: [SESSION_REQUIRED, SESSION_BOUND],
      securityAct: 'sessions ended by an admin',
    }),
  )
  .input(z.object({ _id: idOf('colleague') }))
  .output(z.object({ ended: z.int() }))
  .mutation(async ({ ctx, input }) => {
    const { companyId } = ctx.caller;
    accountOf(ctx.caller);
    await getEmployee(ctx.db, companyId, input._id);
    const employee = { companyId, employeeId: input._id };
    return { ended: await endSessionsOf(ctx.db, employee, 'ended by an admin', ctx.services.clock.now()) };
  });
