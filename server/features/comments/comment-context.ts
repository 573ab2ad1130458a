import { jsonArrayFrom } from 'kysely/helpers/postgres';
import type { Db } from '../../../db/open.ts';
import { listActiveIds } from '../employees/queries.ts';
import { selectVisibleTasks } from '../tasks/queries.ts';
import type { Audience } from './recipients.ts';

/** A comment with everyone involved, for its notifications. */
export type CommentContext = Awaited<ReturnType<typeof listCommentContexts>>[number];

/** Those of the comments that are not deleted, with everyone involved. */
export async function listCommentContexts(db: Db, companyId: number, commentIds: number[]) {
  return selectVisibleTasks(db, companyId)
    .innerJoin(
      (eb) =>
        eb
          .selectFrom('comments')
          .where('company_id', '=', companyId)
          .where('comment_id', '=', eb.fn.any(eb.val(commentIds)))
          .where('is_deleted', '=', false)
          .select(['company_id', 'comment_id', 'task_id', 'sender_id', 'reply_to', 'message'])
          // So that they are read first: where tables look small, PostgreSQL would try each task with each employee.
          .offset(0)
          .as('c'),
      (join) => join.onRef('c.company_id', '=', 't.company_id').onRef('c.task_id', '=', 't.task_id'),
    )
    .innerJoin('employees as s', (join) =>
      join.onRef('s.company_id', '=', 'c.company_id').onRef('s.employee_id', '=', 'c.sender_id'),
    )
    .leftJoin('comments as parent', (join) =>
      join.onRef('parent.company_id', '=', 'c.company_id').onRef('parent.comment_id', '=', 'c.reply_to'),
    )
    .orderBy('c.comment_id')
    .select([
      'c.comment_id',
      't.task_id',
      't.project_id',
      't.title',
      't.owner_id',
      'c.sender_id',
      'c.message',
      's.name as sender_name',
    ])
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
    .execute();
}

/** Those of the comments that mention somebody. */
export async function listMentioning(db: Db, companyId: number, commentIds: number[]): Promise<number[]> {
  const rows = await db
    .selectFrom('comment_mentions')
    .where('company_id', '=', companyId)
    .where((eb) => eb('comment_id', '=', eb.fn.any(eb.val(commentIds))))
    .select('comment_id')
    .distinct()
    .execute();
  return rows.map((row) => row.comment_id);
}

const mentionedIn = ({ mentioned }: CommentContext) => mentioned.map((one) => one.employee_id);
const involvedIn = ({ replied_to_id: repliedToId, owner_id: ownerId, collaborators }: CommentContext) => [
  repliedToId,
  ownerId,
  ...collaborators.map((one) => one.employee_id),
];

export const audienceOf = (comment: CommentContext, activeIds: ReadonlySet<number>): Audience => ({
  actorId: comment.sender_id,
  mentionedIds: mentionedIn(comment),
  involvedIds: involvedIn(comment),
  activeIds,
});

/** Those who are active among everyone involved in the comments. */
export async function listActive(db: Db, companyId: number, comments: CommentContext[]): Promise<Set<number>> {
  const all = comments.flatMap((one) => [one.sender_id, ...mentionedIn(one), ...involvedIn(one)]);
  const ids = [...new Set(all)].filter((employeeId) => employeeId !== null);
  return listActiveIds(db, companyId, ids);
}
