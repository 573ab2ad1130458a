import { sql } from 'kysely';
import type { Db } from '../../../db/open.ts';
import type { Settings } from '../../kernel/context.ts';
import { keepCommentCount } from './comment-counts.ts';

/** Where the frontend shows a comment. */
export function deepLinkOf({ appUrl }: Pick<Settings, 'appUrl'>, taskId: number, commentId: number): string {
  return `${appUrl}/tasks/${taskId}?comment=${commentId}`;
}

/** Holds a comment of a task in place until the transaction ends, so that a reply to it can be written. */
export async function lockParent(
  db: Db,
  companyId: number,
  { taskId, commentId }: { taskId: number; commentId: number },
): Promise<boolean> {
  const parent = await db
    .selectFrom('comments')
    .where('company_id', '=', companyId)
    .where('task_id', '=', taskId)
    .where('comment_id', '=', commentId)
    .select('comment_id')
    .forKeyShare()
    .executeTakeFirst();
  return parent !== undefined;
}

export type NewComment = {
  companyId: number;
  taskId: number;
  senderId: number;
  clientSender: number | null;
  message: string;
  mentionedEmails: string[];
  replyTo: number | null;
  image: string | null;
  mentionedIds: number[];
  now: Date;
};

export async function insertComment(db: Db, comment: NewComment): Promise<number> {
  const { companyId, mentionedIds } = comment;
  const inserting = db
    .insertInto('comments')
    .values({
      company_id: companyId,
      task_id: comment.taskId,
      sender_id: comment.senderId,
      client_sender: comment.clientSender,
      message: comment.message,
      mentioned_emails: comment.mentionedEmails,
      reply_to: comment.replyTo,
      image: comment.image,
      created_at: comment.now,
    })
    .returning('comment_id')
    .executeTakeFirstOrThrow();
  const counting = keepCommentCount(db, { companyId, senderId: comment.senderId, by: 1 });
  const [{ comment_id: commentId }] = await Promise.all([inserting, counting]);
  if (mentionedIds.length > 0) {
    await sql`
      insert into comment_mentions (company_id, comment_id, employee_id)
      select ${companyId}, ${commentId}, unnest(${mentionedIds}::bigint[])`.execute(db);
  }
  return commentId;
}

/** Records that an employee has seen comments; those that they saw before keep their time. Answers which are new. */
export async function insertViews(
  db: Db,
  companyId: number,
  { viewerId, commentIds, now }: { viewerId: number; commentIds: number[]; now: Date },
): Promise<number[]> {
  const { rows } = await sql<{ comment_id: number }>`
    insert into comment_views (company_id, comment_id, employee_id, seen_at)
    select company_id, comment_id, ${viewerId}, ${now} from comments
    where company_id = ${companyId} and comment_id = any(${commentIds}::bigint[])
    for key share
    on conflict do nothing
    returning comment_id`.execute(db);
  return rows.map((row) => row.comment_id);
}
