import { sql } from 'kysely';
import type { Db } from '../../../db/open.ts';
import type { Tokens } from '../../platform/tokens.ts';

/*
 * Invitations are mail that a company can have sent to outsiders, as mails of mentions are (comments/mention-mail.ts), so they
 * are limited: to one address 3 a day from one company, and 200 a day in all from a company that has not paid yet. Further
 * invitations are created and can be accepted, but are not mailed. What was mailed counts even if the person is erased, so
 * it is kept beside the invitations for that day, by a hash of the address.
 */
const toOneAddressMax = 3;
const fromTrialMax = 200;
const digestPurpose = 'address of an invitation mail';

export const invitationMailLifetimeMs = 24 * 3_600_000;

/**
 * Counts one more invitation mailed to the address and returns true, unless a limit is reached. Requires a lock on the
 * company's row, so that concurrent invitations count each other.
 */
export async function takeInvitationMail(
  db: Db,
  tokens: Tokens,
  { companyId, email, now }: { companyId: number; email: string; now: Date },
): Promise<boolean> {
  const hash = tokens.digest(digestPurpose, email);
  const { rows } = await sql`
    insert into invitation_mails (company_id, address_hash, mailed_at)
    select ${companyId}::bigint, ${hash}, ${now}::timestamptz
    from (
      select count(*) as in_all, count(*) filter (where address_hash = ${hash}) as to_address
      from invitation_mails
      where company_id = ${companyId} and mailed_at > ${new Date(now.getTime() - invitationMailLifetimeMs)}
    ) as mailed
    where to_address < ${toOneAddressMax} and (in_all < ${fromTrialMax} or exists (
      select from subscriptions
      where company_id = ${companyId} and not trial and status = 'active'
    ))
    returning mail_id`.execute(db);
  return rows.length > 0;
}
