import type { Db } from '../../db/open.ts';
import { deepLinkOf, insertComment, insertMentions, reserveCommentId } from '../features/comments/queries.ts';
import { recipientsOf } from '../features/comments/recipients.ts';
import { excerptOf, plainTextOf } from '../features/comments/rich-text.ts';
import { insertViews } from '../features/comments/seen.ts';
import { notify } from '../features/notifications/notify.ts';
import type { Settings } from '../kernel/context.ts';
import { comments, people, tasks, type Comment, type TaskKey } from './company.ts';
import type { Staff } from './seed-people.ts';

type Scene = { taskIds: Record<TaskKey, number>; settings: Settings; now: Date };

const hourMs = 3_600_000;

/** Creates the comments with their likes, views and notifications. No mail is sent. */
export async function seedComments(db: Db, staff: Staff, scene: Scene): Promise<void> {
  const ids: number[] = [];
  for (const comment of comments) ids.push(await seedComment(db, staff, scene, comment, ids));
}

async function seedComment(
  db: Db,
  staff: Staff,
  scene: Scene,
  comment: Comment,
  earlier: readonly number[],
): Promise<number> {
  const { companyId, employeeIds } = staff;
  const { replyTo, mentions = [], likedBy = [], seenBy = [] } = comment;
  const at = new Date(scene.now.getTime() - comment.hoursAgo * hourMs);
  const commentId = await reserveCommentId(db);
  const written = {
    companyId,
    commentId,
    taskId: scene.taskIds[comment.task],
    senderId: employeeIds[comment.by],
    clientSender: null,
    message: comment.message,
    mentionedEmails: mentions.map((person) => staff.emails[person]),
    replyTo: replyTo === undefined ? null : earlier[replyTo]!,
    image: null,
    mentionedIds: mentions.map((person) => employeeIds[person]),
    now: at,
  };
  await insertComment(db, written);
  await insertMentions(db, written);
  const soon = (minutes: number) => new Date(at.getTime() + minutes * 60_000);
  const views = seenBy.map((person, index) => ({ viewerId: employeeIds[person], commentId, at: soon(7 + index) }));
  await insertViews(db, companyId, views);
  if (likedBy.length > 0)
    await db
      .insertInto('comment_likes')
      .values(
        likedBy.map((person, index) => ({
          company_id: companyId,
          comment_id: commentId,
          employee_id: employeeIds[person],
          created_at: soon(12 + index),
        })),
      )
      .execute();
  await tellOf(db, staff, scene, { comment, commentId, at });
  return commentId;
}

async function tellOf(
  db: Db,
  { companyId, employeeIds }: Staff,
  { taskIds, settings }: Scene,
  { comment, commentId, at }: { comment: Comment; commentId: number; at: Date },
): Promise<void> {
  const { title, owner, with: others } = tasks[comment.task];
  const answered = comment.replyTo === undefined ? [] : [comments[comment.replyTo]!.by];
  const { mentioned, involved } = recipientsOf({
    actorId: employeeIds[comment.by],
    mentionedIds: (comment.mentions ?? []).map((person) => employeeIds[person]),
    involvedIds: [...answered, owner, ...others].map((person) => employeeIds[person]),
    activeIds: new Set(Object.values(employeeIds)),
  });
  const { first, last } = people[comment.by];
  const taskId = taskIds[comment.task];
  const toTell = (recipientId: number, isMention: boolean) => ({
    recipientId,
    cause: `comment ${commentId} ${isMention ? 'mentioned' : 'created'}`,
    appType: 'task' as const,
    category: 'message' as const,
    priority: isMention ? ('primary' as const) : ('updates' as const),
    title: `${first} ${last} ${isMention ? 'mentioned you' : 'commented'} on ${title}`,
    message: excerptOf(plainTextOf(comment.message), 200),
    link: deepLinkOf(settings, taskId, commentId),
    actorId: employeeIds[comment.by],
    taskId,
    commentId,
    isMention,
  });
  const all = [...mentioned.map((one) => toTell(one, true)), ...involved.map((one) => toTell(one, false))];
  await notify(db, companyId, all, at);
}
