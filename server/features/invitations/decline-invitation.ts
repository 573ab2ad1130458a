import { z } from 'zod';
import { inCompany } from '../../../db/scope.ts';
import { NOT_FOUND } from '../../errors/errors.ts';
import { rest } from '../../kernel/operation.ts';
import { signedIn } from '../../kernel/procedures.ts';
import { done, idOf } from '../../kernel/wire/fields.ts';
import { endOpenInvitation } from '../memberships/membership.ts';
import { getInvitation } from './queries.ts';

export const declineInvitation = signedIn
  .meta(
    rest('POST /api/invitations/{invitation_id}/decline/', {
      section: 'Additions',
      summary: 'Decline an invitation',
      description:
        'It cannot be accepted any more. The company keeps its employee, without an account, and can invite again.',
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
    if (!(await endOpenInvitation(company, employee, 'declined', services.clock.now()))) throw NOT_FOUND();
    return { success: true } as const;
  });
