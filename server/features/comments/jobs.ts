import { sql } from 'kysely';
import { z } from 'zod';
import type { Db } from '../../../db/open.ts';
import { enqueueJobs, jobHandler, type AnyJobHandler, type JobServices } from '../../kernel/job.ts';
import { inTransaction } from '../../kernel/in-transaction.ts';
import { id } from '../../kernel/wire/fields.ts';
import { ofMentions, takeMailAllowance } from '../memberships/mail-limits.ts';
import { notify, type NewNotification } from '../notifications/notify.ts';
import { audienceOf, listActive, listCommentContexts, listMentioning, type CommentContext } from './comment-context.ts';
import { sendMentionMail } from './mention-mail.ts';
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
    // A transaction counts mails to all addresses in one order, so it has one comment.
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

const Like = z.object({ companyId: id, commentId: id, employeeId: id });
type Like = z.infer<typeof Like>;

/** Notifies the author of a comment and people involved in its task of a like, if both still exist. */
export const commentLiked = jobHandler({
  name: 'comment-liked',
  payload: Like,
  run: (services, like) => notifyOfLikes(services, like.companyId, [like]),
  runBatch: notifyOfLikes,
});

async function notifyOfLikes(services: JobServices, companyId: number, likes: Like[]): Promise<void> {
  const { clock, settings } = services;
  await inTransaction(services, companyId, async (db) => {
    const comments = await listCommentContexts(db, companyId, [...new Set(likes.map(({ commentId }) => commentId))]);
    if (comments.length === 0) return;
    const likers = await listLikers(db, companyId, likes);
    const activeIds = await listActive(db, companyId, comments);
    const notifications = comments.flatMap((comment) => {
      const { comment_id: commentId, task_id: taskId, project_id: projectId, title } = comment;
      const involvedIds = [comment.sender_id, comment.owner_id, ...comment.collaborators.map((one) => one.employee_id)];
      const message = excerptOf(plainTextOf(comment.message ?? ''), 200);
      return likers
        .filter((liker) => liker.comment_id === commentId)
        .flatMap(({ employee_id: actorId, name }) =>
          recipientsOf({ actorId, mentionedIds: [], involvedIds, activeIds }).involved.map(
            (recipientId): NewNotification => ({
              recipientId,
              cause: `comment ${commentId} liked by ${actorId}`,
              appType: 'task',
              category: 'message',
              priority: 'activity',
              title: `${name} likes a comment on ${title}`,
              message,
              link: deepLinkOf(settings, taskId, commentId),
              actorId,
              taskId,
              commentId,
              projectId,
            }),
          ),
        );
    });
    await notify(db, companyId, notifications, clock.now());
  });
}

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
      const employeeIds = newlyTold.map(({ recipientId }) => recipientId);
      const allowed = await takeMailAllowance(db, services.tokens, {
        companyId,
        employeeIds,
        purpose: ofMentions,
        now,
      });
      const mails = allowed.map(({ employee_id: employeeId, address_hash: addressHash }) => ({
        dedupeKey: `${commentId} ${employeeId}`,
        payload: { companyId, commentId, employeeId, addressHash },
      }));
      await enqueueJobs(db, sendMentionMail, mails, now);
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

/** Those of the likes that were not taken back, each once, with the names of who likes. */
async function listLikers(db: Db, companyId: number, likes: Like[]) {
  const { rows } = await sql<{ comment_id: number; employee_id: number; name: string }>`
    select l.comment_id, l.employee_id, e.name
    from (
      select distinct * from unnest(
        ${likes.map((like) => like.commentId)}::bigint[], ${likes.map((like) => like.employeeId)}::bigint[]
      ) as given (comment_id, employee_id)
    ) as g
    join comment_likes as l on l.company_id = ${companyId} and l.comment_id = g.comment_id and l.employee_id = g.employee_id
    join employees as e on e.company_id = l.company_id and e.employee_id = l.employee_id
    order by l.comment_id, l.created_at, l.employee_id`.execute(db);
  return rows;
}

export const handlers: AnyJobHandler[] = [commentCreated, commentEdited, commentLiked, sendMentionMail];
