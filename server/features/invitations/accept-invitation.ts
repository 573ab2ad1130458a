import { z } from 'zod';
import { inCompany } from '../../../db/scope.ts';
import { authenticate, hashSecret } from '../../kernel/authentication.ts';
import { defineError } from '../../errors/api-error.ts';
import { NOT_FOUND } from '../../errors/errors.ts';
import { rest } from '../../kernel/operation.ts';
import { signedIn } from '../../kernel/procedures.ts';
import { idOf } from '../../kernel/wire/fields.ts';
import { SignedInResult } from '../auth/schemas.ts';
import { getSignIn, startSession } from '../auth/start-session.ts';
import { employeeUpdated } from '../employees/events.ts';
import { joinCompany } from '../employees/join-company.ts';
import { lockAccount } from '../memberships/lock-access.ts';
import { getInvitation } from './queries.ts';

const ADDRESS_PROOF_REQUIRED = defineError(
  'ADDRESS_PROOF_REQUIRED',
  'FORBIDDEN',
  'Prove that the address is yours: send the `token` of the invitation’s link, or sign in with an e-mailed code, Google or Apple first.',
);

export const acceptInvitation = signedIn
  .meta(
    rest('POST /api/invitations/{invitation_id}/accept/', {
      section: 'Additions',
      summary: 'Accept an invitation',
      description:
        'Joins the account to the company and answers a session there; the session that asked ends, as with a change of company. It needs a proof of the address that is younger than the invitation: the `token` in the link of the invitation mail, or a session that began with an e-mailed code, Google or Apple after the invitation was made. A password alone is none. Where the account has no other company and one invitation, signing in with such a proof accepts it without this operation; naming `company_id` at such a sign-in accepts too.',
      errors: [ADDRESS_PROOF_REQUIRED],
      answersSecret: true,
      changes: [employeeUpdated],
      securityAct: 'invitation accepted',
      example: { invitation_id: 7, token: 'q3Zt0k8Yb1…' },
    }),
  )
  .input(
    z.object({
      invitation_id: idOf('invitation'),
      token: z.string().min(1).max(500).nullish().meta({ description: 'From the link of the invitation mail' }),
    }),
  )
  .output(SignedInResult)
  .mutation(async ({ ctx, input }) => {
    const { db, caller, services } = ctx;
    const { accountId, sessionId } = caller;
    // A refresh token that was used before would become a good one.
    await authenticate(ctx, { isForSession: true });
    const now = services.clock.now();
    const invitation = await getInvitation(db, accountId, input.invitation_id);
    const { company_id: companyId, employee_id: employeeId } = invitation;

    const { addressProvedAt: provedAt, signedInAt } = await getSignIn(db, sessionId);
    const hasLink =
      input.token !== undefined && input.token !== null && hashSecret(input.token) === invitation.token_hash;
    const isProved = hasLink || (provedAt !== null && provedAt > invitation.created_at);
    if (!isProved) throw ADDRESS_PROOF_REQUIRED();
    await lockAccount(db, accountId, null);
    const joining = { companyId, employeeId, accountId, now };
    if (!(await joinCompany(inCompany(db, companyId), joining, services.settings))) throw NOT_FOUND();
    return startSession(ctx, {
      accountId,
      method: 'invitation',
      place: invitation,
      addressProvedAt: hasLink ? now : provedAt,
      replaces: { sessionId, signedInAt },
    });
  });
