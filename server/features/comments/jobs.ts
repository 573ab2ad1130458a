import { jsonArrayFrom } from 'kysely/helpers/postgres';
import { z } from 'zod';
import type { Db } from '../../../db/open.ts';
import { enqueueJob, jobHandler, type AnyJobHandler, type JobServices } from '../../kernel/job.ts';
import { inTransaction } from '../../kernel/in-transaction.ts';
import { id } from '../../kernel/wire/fields.ts';
import { notify, type NewNotification } from '../notifications/notify.ts';
import { selectVisibleTasks } from '../tasks/queries.ts';
import { sendMentionMail, withinMailLimits } from './mention-mail.ts';
import { deepLinkOf } from './queries.ts';
import { recipientsOf, type Audience } from './recipients.ts';
import { excerptOf, plainTextOf } from './rich-text.ts';

/** Notifies the recipients of a new comment, as of the time when the job runs. */
export const commentCreated = jobHandler({
  name: 'comment-created',
  payload: z.object({ companyId: id, commentId: id }),
  run: (services, { companyId, commentId }) =>
    notifyOf(services, { companyId, commentId }, async (db, comment) =>
      recipientsOf(await audienceOf(db, companyId, comment)),
    ),
});

/** Notifies people whom an edit mentioned for the first time, if they still are mentioned. */
export const commentEdited = jobHandler({
  name: 'comment-edited',
  payload: z.object({ companyId: id, commentId: id, newlyMentioned: z.array(id) }),
  run: (services, { companyId, commentId, newlyMentioned }) =>
    notifyOf(services, { companyId, commentId }, async (db, comment) => {
      const { mentioned } = recipientsOf(await audienceOf(db, companyId, comment));
      return { mentioned: mentioned.filter((one) => newlyMentioned.includes(one)), involved: [] };
    }),
});

/** Notifies the author of a comment and people involved in its task of a like, if it still exists. */
export const commentLiked = jobHandler({
  name: 'comment-liked',
  payload: z.object({ companyId: id, commentId: id, employeeId: id }),
  async run(services, { companyId, commentId, employeeId }) {
    const { clock, settings } = services;
    await inTransaction(services, companyId, async (db) => {
      const comment = await findCommentContext(db, companyId, commentId);
      const liker = await findLiker(db, companyId, { commentId, employeeId });
      if (!comment || !liker) return;
      const { activeIds } = await audienceOf(db, companyId, comment);
      const involvedIds = [comment.sender_id, comment.owner_id, ...comment.collaborators.map((one) => one.employee_id)];
      const { involved } = recipientsOf({ actorId: employeeId, mentionedIds: [], involvedIds, activeIds });
      const notifications = involved.map((recipientId): NewNotification => ({
        recipientId,
        cause: `comment ${commentId} liked by ${employeeId}`,
        appType: 'task',
        category: 'message',
        priority: 'activity',
        title: `${liker.name} likes a comment on ${comment.title}`,
        message: excerptOf(plainTextOf(comment.message ?? ''), 200),
        link: deepLinkOf(settings, comment.task_id, commentId),
        actorId: employeeId,
        taskId: comment.task_id,
        commentId,
        projectId: comment.project_id,
      }));
      await notify(db, companyId, notifications, clock.now());
    });
  },
});

/** Writes the notifications of a comment, and enqueues a mail to each mentioned person. */
async function notifyOf(
  services: JobServices,
  { companyId, commentId }: { companyId: number; commentId: number },
  choose: (db: Db, comment: CommentContext) => Promise<ReturnType<typeof recipientsOf>>,
): Promise<void> {
  const { clock, settings } = services;
  const now = clock.now();
  await inTransaction(services, companyId, async (db) => {
    const comment = await findCommentContext(db, companyId, commentId);
    if (!comment) return;
    const { mentioned, involved } = await choose(db, comment);
    const excerpt = excerptOf(plainTextOf(comment.message ?? ''), 200);
    const toTell = (recipientId: number, isMention: boolean): NewNotification => ({
      recipientId,
      cause: `comment ${commentId} ${isMention ? 'mentioned' : 'created'}`,
      appType: 'task',
      category: 'message',
      priority: isMention ? 'primary' : 'updates',
      title: `${comment.sender_name} ${isMention ? 'mentioned you' : 'commented'} on ${comment.title}`,
      message: excerpt,
      link: deepLinkOf(settings, comment.task_id, commentId),
      actorId: comment.sender_id,
      taskId: comment.task_id,
      commentId,
      projectId: comment.project_id,
      isMention,
    });
    const notifications = [
      ...mentioned.map((recipientId) => toTell(recipientId, true)),
      ...involved.map((recipientId) => toTell(recipientId, false)),
    ];
    const told = new Set(await notify(db, companyId, notifications, now));
    // Only new notifications: a job that runs twice sends no second mail.
    const newlyTold = mentioned.filter((one) => told.has(one));
    for (const employeeId of await withinMailLimits(db, companyId, newlyTold, now)) {
      await enqueueJob(db, sendMentionMail, {
        dedupeKey: `${commentId} ${employeeId}`,
        payload: { companyId, commentId, employeeId },
        now,
      });
    }
  });
}

type CommentContext = NonNullable<Awaited<ReturnType<typeof findCommentContext>>>;

/** A comment that is not deleted, with everyone involved. */
async function findCommentContext(db: Db, companyId: number, commentId: number) {
  return selectVisibleTasks(db, companyId)
    .innerJoin('comments as c', (join) =>
      join.onRef('c.company_id', '=', 't.company_id').onRef('c.task_id', '=', 't.task_id'),
    )
    .innerJoin('employees as s', (join) =>
      join.onRef('s.company_id', '=', 'c.company_id').onRef('s.employee_id', '=', 'c.sender_id'),
    )
    .leftJoin('comments as parent', (join) =>
      join.onRef('parent.company_id', '=', 'c.company_id').onRef('parent.comment_id', '=', 'c.reply_to'),
    )
    .where('c.comment_id', '=', commentId)
    .where('c.is_deleted', '=', false)
    .select(['t.task_id', 't.project_id', 't.title', 't.owner_id', 'c.sender_id', 'c.message', 's.name as sender_name'])
    .select('parent.sender_id as replied_to_id')
    .select((eb) => [
      jsonArrayFrom(
        eb
          .selectFrom('comment_mentions as m')
          .whereRef('m.company_id', '=', 'c.company_id')
          .whereRef('m.comment_id', '=', 'c.comment_id')
          .select('m.employee_id'),
      ).as('mentioned'),
      jsonArrayFrom(
        eb
          .selectFrom('task_collaborators as k')
          .whereRef('k.company_id', '=', 't.company_id')
          .whereRef('k.task_id', '=', 't.task_id')
          .select('k.employee_id'),
      ).as('collaborators'),
    ])
    .executeTakeFirst();
}

async function findLiker(
  db: Db,
  companyId: number,
  { commentId, employeeId }: { commentId: number; employeeId: number },
): Promise<{ name: string } | undefined> {
  return db
    .selectFrom('comment_likes as l')
    .innerJoin('employees as e', (join) =>
      join.onRef('e.company_id', '=', 'l.company_id').onRef('e.employee_id', '=', 'l.employee_id'),
    )
    .where('l.company_id', '=', companyId)
    .where('l.comment_id', '=', commentId)
    .where('l.employee_id', '=', employeeId)
    .select('e.name')
    .executeTakeFirst();
}

async function audienceOf(db: Db, companyId: number, comment: CommentContext): Promise<Audience> {
  const mentionedIds = comment.mentioned.map((one) => one.employee_id);
  const involvedIds = [comment.replied_to_id, comment.owner_id, ...comment.collaborators.map((one) => one.employee_id)];
  const active = await db
    .selectFrom('employees')
    .where('company_id', '=', companyId)
    .where((eb) => eb('employee_id', '=', eb.fn.any(eb.val([comment.sender_id, ...mentionedIds, ...involvedIds]))))
    .where('is_active', '=', true)
    .where('is_deleted', '=', false)
    .select('employee_id')
    .execute();
  const activeIds = new Set(active.map((one) => one.employee_id));
  return { actorId: comment.sender_id, mentionedIds, involvedIds, activeIds };
}

export const handlers: AnyJobHandler[] = [commentCreated, commentEdited, commentLiked, sendMentionMail];
