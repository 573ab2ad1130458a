import { z } from 'zod';
import { SESSION_BOUND, SESSION_REQUIRED } from '../../errors/errors.ts';
import { rest } from '../../kernel/operation.ts';
import { accountOf, admin } from '../../kernel/procedures.ts';
import { idOf } from '../../kernel/wire/fields.ts';
import { apiKeyRevoked } from '../memberships/events.ts';
import { endApiKeysOf } from '../memberships/end-access.ts';
import { getEmployee } from './queries.ts';

export const endApiKeys = admin('no key')
  .meta(
    rest('DELETE /api/employees/{_id}/api-keys/', {
      section: 'Additions',
      summary: 'End the API keys of an employee',
      description:
        'All that the employee made in this company, and the sessions that those keys opened, at once and on every node; `ended` says how many keys were live.',
      errors: [SESSION_REQUIRED, SESSION_BOUND],
      changes: [apiKeyRevoked],
      securityAct: 'keys revoked by an admin',
    }),
  )
  .input(z.object({ _id: idOf('colleague') }))
  .output(z.object({ ended: z.int() }))
  .mutation(async ({ ctx, input }) => {
    const { companyId, employeeId: actorId } = ctx.caller;
    accountOf(ctx.caller);
    await getEmployee(ctx.db, companyId, input._id);
    const employee = { companyId, employeeId: input._id };
    const ending = { because: 'ended by an admin', actorId, now: ctx.services.clock.now() };
    return { ended: await endApiKeysOf(ctx.db, employee, ending) };
  });
