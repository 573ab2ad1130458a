import { z } from 'zod';
import type { Db } from '../../../db/open.ts';
import { enqueueJob, jobHandler, type AnyJobHandler, type JobServices } from '../../kernel/job.ts';
import { inTransaction } from '../../kernel/in-transaction.ts';
import { id } from '../../kernel/wire/fields.ts';
import { notify, type NewNotification } from '../notifications/notify.ts';
import { audienceOf, listActive, listCommentContexts, listMentioning, type CommentContext } from './comment-context.ts';
import { sendMentionMail, withinMailLimits } from './mention-mail.ts';
import { deepLinkOf } from './queries.ts';
import { recipientsOf } from './recipients.ts';
import { excerptOf, plainTextOf } from './rich-text.ts';

/** Notifies the recipients of a new comment, as of the time when the job runs. */
export const commentCreated = jobHandler({
  name: 'comment-created',
  payload: z.object({ companyId: id, commentId: id }),
  run: (services, { companyId, commentId }) => notifyOf(services, companyId, [commentId]),
  async runBatch(services, companyId, payloads) {
    const ids = payloads.map(({ commentId }) => commentId);
    const { db } = services.database.forCompany(companyId);
    const mentioning = new Set(await listMentioning(db, companyId, ids));
    const [alone, together] = [ids.filter((one) => mentioning.has(one)), ids.filter((one) => !mentioning.has(one))];
    await notifyOf(services, companyId, together);
    // The limit of mails counts the mentions before, so each is counted by itself.
    for (const commentId of alone) await notifyOf(services, companyId, [commentId]);
  },
});

/** Notifies people whom an edit mentioned for the first time, if they still are mentioned. */
export const commentEdited = jobHandler({
  name: 'comment-edited',
  payload: z.object({ companyId: id, commentId: id, newlyMentioned: z.array(id) }),
  run: (services, { companyId, commentId, newlyMentioned }) =>
    notifyOf(services, companyId, [commentId], ({ mentioned }) => ({
      mentioned: mentioned.filter((one) => newlyMentioned.includes(one)),
      involved: [],
    })),
});

/** Notifies the author of a comment and people involved in its task of a like, if it still exists. */
export const commentLiked = jobHandler({
  name: 'comment-liked',
  payload: z.object({ companyId: id, commentId: id, employeeId: id }),
  async run(services, { companyId, commentId, employeeId }) {
    const { clock, settings } = services;
    await inTransaction(services, companyId, async (db) => {
      const [comment] = await listCommentContexts(db, companyId, [commentId]);
      const liker = await findLiker(db, companyId, { commentId, employeeId });
      if (!comment || !liker) return;
      const activeIds = await listActive(db, companyId, [comment]);
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

type Recipients = ReturnType<typeof recipientsOf>;

/** Writes the notifications of comments, and enqueues a mail to each mentioned person. */
async function notifyOf(
  services: JobServices,
  companyId: number,
  commentIds: number[],
  choose: (recipients: Recipients) => Recipients = (all) => all,
): Promise<void> {
  const { clock, settings } = services;
  const now = clock.now();
  await inTransaction(services, companyId, async (db) => {
    const comments = await listCommentContexts(db, companyId, commentIds);
    if (comments.length === 0) return;
    const activeIds = await listActive(db, companyId, comments);
    const notifications = comments.flatMap((comment) => {
      const { mentioned, involved } = choose(recipientsOf(audienceOf(comment, activeIds)));
      const toTell = notificationOf(comment, settings);
      return [...mentioned.map((one) => toTell(one, true)), ...involved.map((one) => toTell(one, false))];
    });
    const told = await notify(db, companyId, notifications, now);
    for (const commentId of commentIds) {
      // Only new notifications: a job that runs twice sends no second mail.
      const newlyTold = told.filter((one) => one.isMention === true && one.commentId === commentId);
      const recipientIds = newlyTold.map(({ recipientId }) => recipientId);
      for (const employeeId of await withinMailLimits(db, companyId, recipientIds, now)) {
        await enqueueJob(db, sendMentionMail, {
          dedupeKey: `${commentId} ${employeeId}`,
          payload: { companyId, commentId, employeeId },
          now,
        });
      }
    }
  });
}

function notificationOf(comment: CommentContext, settings: JobServices['settings']) {
  const { comment_id: commentId, task_id: taskId } = comment;
  const message = excerptOf(plainTextOf(comment.message ?? ''), 200);
  return (recipientId: number, isMention: boolean): NewNotification => ({
    recipientId,
    cause: `comment ${commentId} ${isMention ? 'mentioned' : 'created'}`,
    appType: 'task',
    category: 'message',
    priority: isMention ? 'primary' : 'updates',
    title: `${comment.sender_name} ${isMention ? 'mentioned you' : 'commented'} on ${comment.title}`,
    message,
    link: deepLinkOf(settings, taskId, commentId),
    actorId: comment.sender_id,
    taskId,
    commentId,
    projectId: comment.project_id,
    isMention,
  });
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

export const handlers: AnyJobHandler[] = [commentCreated, commentEdited, commentLiked, sendMentionMail];
