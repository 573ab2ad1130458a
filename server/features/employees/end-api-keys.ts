import { z } from 'zod';
import { SESSION_BOUND, SESSION_REQUIRED } from '../../kernel/faults.ts';
import { rest } from '../../kernel/operation.ts';
import { accountOf, admin } from '../../kernel/procedures.ts';
import { id } from '../../kernel/wire.ts';
import { endApiKeysOf } from '../memberships/membership.ts';
import { getEmployee } from './queries.ts';

export const endApiKeys = admin
  .meta(
    rest('DELETE /api/employees/{_id}/api-keys/', {
      section: 'Additions',
      summary: 'End the API keys of an employee',
      description:
        'All that the employee made in this company, and the sessions that those keys opened, at once and on every node; `ended` says how many keys.',
      faults: [SESSION_REQUIRED, SESSION_BOUND],
    }),
  )
  .input(z.object({ _id: id }))
  .output(z.object({ ended: z.int() }))
  .mutation(async ({ ctx, input }) => {
    const { companyId } = ctx.caller;
    accountOf(ctx.caller);
    await getEmployee(ctx.db, companyId, input._id);
    const employee = { companyId, employeeId: input._id };
    return { ended: await endApiKeysOf(ctx.db, employee, 'ended by an admin', ctx.services.clock.now()) };
  });
