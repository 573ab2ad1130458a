import { sql } from 'kysely';
import type { Db } from '../../../db/open.ts';

/*
 * Invitations are mail that a company can have sent to outsiders, as mails of mentions are (comments/mention-mail.ts), so they
 * are limited: to one address 3 a day from one company, and 200 a day in all from a company that has not paid yet. Further
 * invitations are created and can be accepted, but are not mailed.
 */
const toOneAddressMax = 3;
const fromTrialMax = 200;

/** Requires a lock on the company's row, so that concurrent invitations count each other. */
export async function mayMailInvitation(
  db: Db,
  { companyId, email, now }: { companyId: number; email: string; now: Date },
): Promise<boolean> {
  const { rows } = await sql<{ isWithin: boolean }>`
    select count(*) filter (where email = ${email}) < ${toOneAddressMax}
      and (count(*) < ${fromTrialMax} or exists (
        select from subscriptions
        where company_id = ${companyId} and not trial and status = 'active'
      )) as "isWithin"
    from invitations
    where company_id = ${companyId} and mailed_at > ${now}::timestamptz - interval '1 day'`.execute(db);
  return rows[0]!.isWithin;
}
