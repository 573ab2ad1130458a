import { z } from 'zod';
import { rest } from '../../kernel/operation.ts';
import { signedIn } from '../../kernel/procedures.ts';
import { idOf } from '../../kernel/wire/fields.ts';
import { moment } from '../../kernel/wire/moments.ts';
import { listInvitationsOf } from './queries.ts';

const Invitation = z
  .object({
    _id: idOf('invitation'),
    company_id: idOf('company'),
    company_name: z.string(),
    invitedBy: z.string().nullable().meta({ description: 'The name of the admin who invited' }),
    createdAt: moment,
  })
  .meta({ id: 'Invitation' });

export const listInvitations = signedIn
  .meta(
    rest('GET /api/invitations/', {
      section: 'Additions',
      summary: "One's own open invitations",
      description:
        'Of companies that added the address of the account and wait for its owner to accept, the oldest first. An account whose address was never proved has none.',
    }),
  )
  .output(z.object({ invitations: z.array(Invitation) }))
  .query(async ({ ctx }) => {
    const open = await listInvitationsOf(ctx.db, ctx.caller.accountId);
    const invitations = open.map(
      ({ invitation_id: _id, company_id, company_name, invitedBy, created_at: createdAt }) => ({
        _id,
        company_id,
        company_name,
        invitedBy,
        createdAt,
      }),
    );
    return { invitations };
  });
