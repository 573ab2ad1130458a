import { sql } from 'kysely';
import type { Db } from '../../../db/open.ts';
import type { Tokens } from '../../platform/tokens.ts';

/*
 * What a company can have mailed to outsiders is limited. Invitations: to one address 3 a day from one company, and 200 a
 * day in all from a company that has not paid yet. Further invitations are created and can be accepted, but are not mailed.
 * Mails of mentions, and of sign-ins by keys: 3 a day each while an invitation that was mailed is open. What was mailed counts even
 * if the person is erased or another employee gets the address, so it is kept by a hash of the address.
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

/** What the table mention_mails counts, apart from each other: the purpose is a part of the hash. */
export const ofMentions = 'address of a mention mail';
export const ofSignInsByKey = 'address of a mail about a sign-in by a key';

const toMemberHourlyMax = 20;
const toInvitedDailyMax = 3;

/** A person who may get a mail, at the address for which it was counted. */
type Allowed = { employee_id: number; address_hash: string };

/** Open invitations of the employee `e` that were mailed to their address. */
const mailedInvitations = (db: Db) =>
  db
    .selectFrom('invitations as i')
    .whereRef('i.company_id', '=', sql.ref('e.company_id'))
    .whereRef('i.employee_id', '=', sql.ref('e.employee_id'))
    .whereRef('i.email', '=', sql.ref('e.email'))
    .where('i.mailed_at', 'is not', null)
    .where('i.ended_at', 'is', null)
    .select('i.invitation_id');

/**
 * Counts one more mail to the address of each employee, and returns those within the limit. Somebody who has not accepted gets none
 * before the mail of the invitation, so no more strangers are mailed than may be invited, and none after declining it.
 */
export async function takeMailAllowance(
  db: Db,
  tokens: Tokens,
  {
    companyId,
    employeeIds,
    purpose,
    now,
  }: { companyId: number; employeeIds: readonly number[]; purpose: string; now: Date },
): Promise<Allowed[]> {
  if (employeeIds.length === 0) return [];
  const people = await db
    .selectFrom('employees as e')
    .where('e.company_id', '=', companyId)
    .where((eb) => eb('e.employee_id', '=', eb.fn.any(eb.val([...employeeIds]))))
    .where((eb) => eb.or([eb('e.account_id', 'is not', null), eb.exists(mailedInvitations(db))]))
    .select(['e.employee_id', 'e.email', 'e.account_id'])
    .execute();
  const { rows } = await sql<Allowed>`
    with mailed as materialized (
      select * from unnest(
        ${people.map((one) => one.employee_id)}::bigint[],
        ${people.map((one) => tokens.digest(purpose, one.email))}::text[],
        ${people.map((one) => one.account_id === null)}::boolean[]
      ) as p (employee_id, address_hash, is_invited)
    ), counted as (
      insert into mention_mails as m (company_id, address_hash, is_invited, count, ends_at)
      select ${companyId}::bigint, address_hash, is_invited, 1,
        ${now}::timestamptz + case when is_invited then interval '1 day' else interval '1 hour' end
      from mailed order by address_hash
      on conflict (company_id, address_hash, is_invited) do update set
        count = case when m.ends_at <= ${now}::timestamptz then 1 else m.count + 1 end,
        -- The day of an invited person begins again with each mail that is sent, so that no day has more than three.
        ends_at = case
          when m.ends_at <= ${now}::timestamptz or (m.is_invited and m.count < ${toInvitedDailyMax}::integer) then excluded.ends_at
          else m.ends_at
        end
      returning address_hash, count
    )
    select employee_id, address_hash from mailed join counted using (address_hash)
    where count <= case when is_invited then ${toInvitedDailyMax}::integer else ${toMemberHourlyMax}::integer end
    order by employee_id`.execute(db);
  return rows;
}
