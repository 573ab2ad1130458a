import { sql } from 'kysely';
import { z } from 'zod';
import type { Db } from '../../../db/open.ts';
import { jobHandler, type JobServices } from '../../kernel/job.ts';
import { id } from '../../kernel/wire/fields.ts';
import { renderMail } from '../../mail/mail-template.ts';
import { preferencesLink } from '../notifications/preferences.ts';
import { selectVisibleTasks } from '../tasks/queries.ts';
import { deepLinkOf } from './queries.ts';
import { excerptOf, plainTextOf } from './rich-text.ts';

/** Mails one person who is mentioned in a comment, if they still are and want such mail. */
export const sendMentionMail = jobHandler({
  name: 'mention-mail',
  queue: 'mail',
  // Jobs of before 0038-mention-mails have no hash.
  payload: z.object({ companyId: id, commentId: id, employeeId: id, addressHash: z.string().optional() }),
  async run({ database, mailer, settings, tokens }, payload, { dedupeKey }) {
    const mention = await findMention(database.forCompany(payload.companyId).db, payload);
    if (!mention || !mention.wants_mail) return;
    const { addressHash } = payload;
    // Another address has an allowance of its own.
    if (addressHash !== undefined && !tokens.isDigest(addressHash, digestPurpose, mention.email)) return;
    const mail = renderMail(mention.email, {
      ...(mention.is_invited ? toInvited : toMember(mention)),
      template: 'mention',
      action: { label: 'Open the comment', url: deepLinkOf(settings, mention.task_id, payload.commentId) },
      footnote: 'You receive this because your address was mentioned.',
      ...(mention.is_invited ? {} : { footlink: preferencesLink(settings) }),
    });
    await mailer.send(mail, { idempotencyKey: dedupeKey });
  },
});

type Mention = NonNullable<Awaited<ReturnType<typeof findMention>>>;

const toMember = ({ sender_name: sender, title, message }: Mention) => ({
  subject: `${withoutLinks(sender)} mentioned you in a comment`,
  paragraphs: [`${sender} mentioned you in a comment on "${title}":`, excerptOf(plainTextOf(message ?? ''), 1000)],
});

/** A person who has not accepted an invitation may be an outsider: the mail contains nothing that others wrote. */
const toInvited = {
  subject: 'You were mentioned in a comment',
  paragraphs: ['You were mentioned in a comment in a company that has invited you. Accept the invitation to read it.'],
};

/** Removes parts of a name that mail programs turn into links. */
const withoutLinks = (name: string): string =>
  name.replaceAll(/(?<=[\p{L}\p{N}])[.:/@\\]+(?=[\p{L}\p{N}/])/gu, ' ').slice(0, 80);

const toMemberHourlyMax = 20;
const toInvitedDailyMax = 3;
const digestPurpose = 'address of a mention mail';

/** A person who may get a mail, at the address for which it was counted. */
export type Allowed = { employee_id: number; address_hash: string };

/**
 * Counts one more mail to the address of each newly mentioned person, and returns those within the limit. The count is of
 * the address, so that neither preferences nor another employee with that address begin it again.
 */
export async function takeMailAllowance(
  db: Db,
  tokens: JobServices['tokens'],
  { companyId, employeeIds, now }: { companyId: number; employeeIds: readonly number[]; now: Date },
): Promise<Allowed[]> {
  if (employeeIds.length === 0) return [];
  const people = await db
    .selectFrom('employees')
    .where('company_id', '=', companyId)
    .where((eb) => eb('employee_id', '=', eb.fn.any(eb.val([...employeeIds]))))
    .select(['employee_id', 'email', 'account_id'])
    .execute();
  const { rows } = await sql<Allowed>`
    with mentioned as materialized (
      select * from unnest(
        ${people.map((one) => one.employee_id)}::bigint[],
        ${people.map((one) => tokens.digest(digestPurpose, one.email))}::text[],
        ${people.map((one) => one.account_id === null)}::boolean[]
      ) as p (employee_id, address_hash, is_invited)
    ), counted as (
      insert into mention_mails as m (company_id, address_hash, is_invited, count, ends_at)
      select ${companyId}::bigint, address_hash, is_invited, 1,
        ${now}::timestamptz + case when is_invited then interval '1 day' else interval '1 hour' end
      from mentioned order by address_hash
      on conflict (company_id, address_hash, is_invited) do update set
        count = case when m.ends_at <= ${now}::timestamptz then 1 else m.count + 1 end,
        -- The day of an invited person begins again with each mail that is sent, so that no day has more than three.
        ends_at = case
          when m.ends_at <= ${now}::timestamptz or (m.is_invited and m.count < ${toInvitedDailyMax}::integer) then excluded.ends_at
          else m.ends_at
        end
      returning address_hash, count
    )
    select employee_id, address_hash from mentioned join counted using (address_hash)
    where count <= case when is_invited then ${toInvitedDailyMax}::integer else ${toMemberHourlyMax}::integer end
    order by employee_id`.execute(db);
  return rows;
}

/**
 * The mention, if the comment exists and the person is active; their own preference takes precedence over the
 * company's.
 */
async function findMention(
  db: Db,
  { companyId, commentId, employeeId }: { companyId: number; commentId: number; employeeId: number },
) {
  return selectVisibleTasks(db, companyId)
    .innerJoin('comments as c', (join) =>
      join.onRef('c.company_id', '=', 't.company_id').onRef('c.task_id', '=', 't.task_id'),
    )
    .innerJoin('employees as s', (join) =>
      join.onRef('s.company_id', '=', 'c.company_id').onRef('s.employee_id', '=', 'c.sender_id'),
    )
    .innerJoin('comment_mentions as m', (join) =>
      join.onRef('m.company_id', '=', 'c.company_id').onRef('m.comment_id', '=', 'c.comment_id'),
    )
    .innerJoin('employees as e', (join) =>
      join.onRef('e.company_id', '=', 'm.company_id').onRef('e.employee_id', '=', 'm.employee_id'),
    )
    .leftJoin('notification_preferences as own', (join) =>
      join
        .onRef('own.company_id', '=', 'e.company_id')
        .onRef('own.employee_id', '=', 'e.employee_id')
        .on('own.category', '=', 'message'),
    )
    .leftJoin('notification_setups as setup', (join) =>
      join.onRef('setup.company_id', '=', 'e.company_id').on('setup.category', '=', 'message'),
    )
    .where('c.comment_id', '=', commentId)
    .where('c.is_deleted', '=', false)
    .where('e.employee_id', '=', employeeId)
    .where('e.is_active', '=', true)
    .where('e.is_deleted', '=', false)
    .select(['t.task_id', 't.title', 'c.message', 's.name as sender_name', 'e.email'])
    .select((eb) => eb('e.account_id', 'is', null).as('is_invited'))
    .select((eb) => eb.fn.coalesce('own.email', 'setup.email', eb.lit(true)).as('wants_mail'))
    .executeTakeFirst();
}
