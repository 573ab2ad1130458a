import { z } from 'zod';
import { inCompany } from '../../../db/scope.ts';
import { NOT_FOUND } from '../../errors/errors.ts';
import { noteActor } from '../../kernel/audit-log.ts';
import { rest } from '../../kernel/operation.ts';
import { signedIn } from '../../kernel/procedures.ts';
import { done, idOf } from '../../kernel/wire/fields.ts';
import { employeeDeclined } from '../employees/events.ts';
import { getEmployee } from '../employees/queries.ts';
import { recordEmployee } from '../employees/record-change.ts';
import { endOpenInvitation } from '../memberships/membership.ts';
import { getInvitation } from './queries.ts';

export const declineInvitation = signedIn
  .meta(
    rest('POST /api/invitations/{invitation_id}/decline/', {
      section: 'Additions',
      summary: 'Decline an invitation',
      description:
        'It cannot be accepted any more. The company keeps its employee, without an account, and can invite again.',
      changes: [employeeDeclined],
      securityAct: 'invitation declined',
      example: { invitation_id: 7 },
    }),
  )
  .input(z.object({ invitation_id: idOf('invitation') }))
  .output(done)
  .mutation(async ({ ctx, input }) => {
    const { db, caller, services } = ctx;
    const invitation = await getInvitation(db, caller.accountId, input.invitation_id);
    const employee = { companyId: invitation.company_id, employeeId: invitation.employee_id };
    const company = inCompany(db, employee.companyId);
    const now = services.clock.now();
    if (!(await endOpenInvitation(company, employee, 'declined', now))) throw NOT_FOUND();
    const row = await getEmployee(company, employee.companyId, employee.employeeId);
    // It concerns the company that invited, in whichever one the caller has signed in.
    noteActor(company, employee);
    const by = { actorId: employee.employeeId, at: now, settings: services.settings };
    recordEmployee(company, employeeDeclined, row, by);
    return { success: true } as const;
  });
