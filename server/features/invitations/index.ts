import { router } from '../../kernel/trpc.ts';
import { acceptInvitation } from './accept-invitation.ts';
import { declineInvitation } from './decline-invitation.ts';
import { listInvitations } from './list-invitations.ts';

export const invitations = router({ list: listInvitations, accept: acceptInvitation, decline: declineInvitation });
