import { sql } from 'kysely';
import { compiled } from '../../../db/pipeline/compiled.ts';
import type { Db } from '../../../db/open.ts';
import type { Settings } from '../../kernel/context.ts';
import { reserveId } from '../../kernel/reserve-id.ts';

/** The address at which the frontend shows a comment. */
export function deepLinkOf({ appUrl }: Pick<Settings, 'appUrl'>, taskId: number, commentId: number): string {
  return `${appUrl}/tasks/${taskId}?comment=${commentId}`;
}

/** Locks a comment of a task until the transaction ends, so that a reply to it can be written. */
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
  commentId: number;
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

/** Reserves the identifier of a new comment, so that all its statements can be sent at once. */
export const reserveCommentId = (db: Db): Promise<number> => reserveId(db, 'comments_comment_id_seq');

/** Inserts the mentions of a comment, after {@link insertComment}. */
export async function insertMentions(db: Db, { companyId, commentId, mentionedIds }: NewComment): Promise<void> {
  if (mentionedIds.length > 0) await writeMentions(db, { companyId, commentId, mentionedIds });
}

export const insertComment = compiled<NewComment, object>((db, placeholder) =>
  sql<object>`
    insert into comments (
      company_id, comment_id, task_id, sender_id, client_sender, message, mentioned_emails, reply_to, image, created_at
    )
    overriding system value
    values (
      ${placeholder('companyId')}, ${placeholder('commentId')}, ${placeholder('taskId')}, ${placeholder('senderId')}, ${placeholder('clientSender')},
      ${placeholder('message')}, ${placeholder('mentionedEmails')}, ${placeholder('replyTo')}, ${placeholder('image')}, ${placeholder('now')}
    )`.compile(db),
);

const writeMentions = compiled<{ companyId: number; commentId: number; mentionedIds: number[] }, object>(
  (db, placeholder) =>
    sql<object>`
    insert into comment_mentions (company_id, comment_id, employee_id)
    select ${placeholder('companyId')}, ${placeholder('commentId')}, unnest(${placeholder('mentionedIds')}::bigint[])`.compile(
      db,
    ),
);
