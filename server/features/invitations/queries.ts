import type { Db } from '../../../db/open.ts';
import { NOT_FOUND } from '../../errors/errors.ts';
import { getAccountById } from '../auth/accounts.ts';
import { listOpenInvitations, type OpenInvitation } from '../memberships/open-invitations.ts';

/** The open invitations to an account's address; none while the address is unproved. */
export async function listInvitationsOf(db: Db, accountId: number): Promise<OpenInvitation[]> {
  const { email, email_verified_at: provedAt } = await getAccountById(db, accountId);
  return provedAt === null ? [] : listOpenInvitations(db, email);
}

export async function getInvitation(db: Db, accountId: number, invitationId: number): Promise<OpenInvitation> {
  const found = (await listInvitationsOf(db, accountId)).find(({ invitation_id: one }) => one === invitationId);
  if (!found) throw NOT_FOUND();
  return found;
}
