import { sql } from 'kysely';
import type { Db } from '../../../db/open.ts';
import { selectVisibleComments } from './comment-rows.ts';

/** A comment that is locked until the transaction ends, with its task's owner. */
export type LockedComment = {
  comment_id: number;
  task_id: number;
  sender_id: number;
  reply_to: number | null;
  message: string | null;
  image: string | null;
  mentioned_emails: string[];
  task_owner_id: number;
};

/** Locks a comment that is not deleted, on a visible task, against other changes and against replies. */
export async function lockComment(db: Db, companyId: number, commentId: number): Promise<LockedComment | undefined> {
  return selectComment(db, companyId, commentId).forUpdate('c').executeTakeFirst();
}

/** The same for a like or a reply, which others may add at the same time. */
export async function lockVisibleComment(
  db: Db,
  companyId: number,
  commentId: number,
): Promise<LockedComment | undefined> {
  return selectComment(db, companyId, commentId).forKeyShare('c').executeTakeFirst();
}

function selectComment(db: Db, companyId: number, commentId: number) {
  return selectVisibleComments(db, companyId)
    .where('c.comment_id', '=', commentId)
    .where('c.is_deleted', '=', false)
    .select(['c.comment_id', 'c.task_id', 'c.sender_id', 'c.reply_to', 'c.message', 'c.image', 'c.mentioned_emails'])
    .select('t.owner_id as task_owner_id');
}

/** Sets the mentioned people, and returns those who were not mentioned before. */
export async function replaceMentions(
  db: Db,
  companyId: number,
  { commentId, mentionedIds }: { commentId: number; mentionedIds: number[] },
): Promise<number[]> {
  await db
    .deleteFrom('comment_mentions')
    .where('company_id', '=', companyId)
    .where('comment_id', '=', commentId)
    .where((eb) => eb.not(eb('employee_id', '=', eb.fn.any(eb.val(mentionedIds)))))
    .execute();
  const { rows } = await sql<{ employee_id: number }>`
    insert into comment_mentions (company_id, comment_id, employee_id)
    select ${companyId}, ${commentId}, unnest(${mentionedIds}::bigint[])
    on conflict (company_id, comment_id, employee_id) do nothing
    returning employee_id`.execute(db);
  return rows.map((row) => row.employee_id);
}

/**
 * Deletes a comment, or its content if it has replies: then it stays as a tombstone. A tombstone is deleted with the
 * last reply to it, and so on upwards. Returns all deleted comments, the given one first. The count of its sender
 * follows.
 */
export async function deleteThread(db: Db, companyId: number, comment: LockedComment): Promise<Ancestor[]> {
  if (!(await hasReplies(db, companyId, comment))) return deleteUpwards(db, companyId, comment);
  await markDeleted(db, companyId, comment.comment_id);
  return [comment];
}

async function deleteUpwards(db: Db, companyId: number, comment: LockedComment): Promise<Ancestor[]> {
  const gone: Ancestor[] = [];
  let current: Ancestor | undefined = comment;
  while (current) {
    await db
      .deleteFrom('comments')
      .where('company_id', '=', companyId)
      .where('comment_id', '=', current.comment_id)
      .execute();
    gone.push(current);
    current = await lockEmptyTombstone(db, companyId, comment.task_id, current.reply_to);
  }
  return gone;
}

type Ancestor = { comment_id: number; sender_id: number; reply_to: number | null };

async function markDeleted(db: Db, companyId: number, commentId: number): Promise<void> {
  await db
    .updateTable('comments')
    .set({ is_deleted: true, message: null, image: null, mentioned_emails: [] })
    .where('company_id', '=', companyId)
    .where('comment_id', '=', commentId)
    .execute();
  for (const table of ['comment_mentions', 'comment_likes'] as const) {
    await db.deleteFrom(table).where('company_id', '=', companyId).where('comment_id', '=', commentId).execute();
  }
}

async function hasReplies(
  db: Db,
  companyId: number,
  comment: { comment_id: number; task_id: number },
): Promise<boolean> {
  const reply = await db
    .selectFrom('comments')
    .where('company_id', '=', companyId)
    .where('task_id', '=', comment.task_id)
    .where('reply_to', '=', comment.comment_id)
    .select('comment_id')
    .limit(1)
    .executeTakeFirst();
  return reply !== undefined;
}

/** Locks the parent also while it is no tombstone: a deletion that is not committed yet may make it one. */
async function lockEmptyTombstone(
  db: Db,
  companyId: number,
  taskId: number,
  commentId: number | null,
): Promise<Ancestor | undefined> {
  const parent = await db
    .selectFrom('comments')
    .where('company_id', '=', companyId)
    .where('task_id', '=', taskId)
    .where('comment_id', '=', commentId)
    .select(['comment_id', 'task_id', 'sender_id', 'reply_to', 'is_deleted'])
    .forUpdate()
    .executeTakeFirst();
  return parent?.is_deleted && !(await hasReplies(db, companyId, parent)) ? parent : undefined;
}
