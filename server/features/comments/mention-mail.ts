import { z } from 'zod';
import type { Db } from '../../../db/open.ts';
import { reaction } from '../../kernel/reaction.ts';
import { id } from '../../kernel/wire.ts';
import { write } from '../../mail/letter.ts';
import { selectVisibleTasks } from '../tasks/queries.ts';
import { deepLinkOf } from './queries.ts';
import { excerptOf, plainTextOf } from './rich-text.ts';

/** Writes to one person who is mentioned in a comment, where they still are when it runs and want such mail. */
export const sendMentionMail = reaction({
  name: 'mention-mail',
  lane: 'mail',
  payload: z.object({ companyId: id, commentId: id, employeeId: id }),
  async run({ database, mailer, settings }, payload, { dedupeKey }) {
    const mention = await findMention(database.db, payload);
    if (!mention || !mention.wants_mail) return;
    const letter = write(mention.email, {
      subject: `${mention.sender_name} mentioned you on ${mention.title}`,
      template: 'mention',
      paragraphs: [
        `${mention.sender_name} mentioned you in a comment on "${mention.title}":`,
        excerptOf(plainTextOf(mention.message ?? ''), 1000),
      ],
      action: { label: 'Open the comment', url: deepLinkOf(settings, mention.task_id, payload.commentId) },
      footnote: 'You receive this because your address was mentioned. Your notification preferences can turn it off.',
    });
    await mailer.send(letter, { idempotencyKey: dedupeKey });
  },
});

/** The mention, while the comment stands and the person is active; a preference of their own goes before the company's. */
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
    .select((eb) => eb.fn.coalesce('own.email', 'setup.email', eb.lit(true)).as('wants_mail'))
    .executeTakeFirst();
}
