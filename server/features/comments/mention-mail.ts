import { z } from 'zod';
import type { Db } from '../../../db/open.ts';
import { jobHandler } from '../../kernel/job.ts';
import { id } from '../../kernel/wire/fields.ts';
import { renderMail } from '../../mail/mail-template.ts';
import { ofMentions } from '../memberships/mail-limits.ts';
import { preferencesLink } from '../notifications/preferences.ts';
import { selectVisibleComments } from './comment-rows.ts';
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
    if (addressHash !== undefined && !tokens.isDigest(addressHash, ofMentions, mention.email)) return;
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

/**
 * The mention, if the comment exists and the person is active; their own preference takes precedence over the
 * company's.
 */
async function findMention(
  db: Db,
  { companyId, commentId, employeeId }: { companyId: number; commentId: number; employeeId: number },
) {
  return selectVisibleComments(db, companyId)
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
