import { sql } from 'kysely';
import type { z } from 'zod';
import { compiled, compiledFor, type Given } from '../../../db/compiled.ts';
import type { Db } from '../../../db/open.ts';
import type { Settings } from '../../kernel/context.ts';
import { pictureUrl } from '../employees/queries.ts';
import { selectVisibleTasks } from '../tasks/queries.ts';
import { deepLinkOf, type NewComment } from './queries.ts';
import type { Comment } from './schemas.ts';

type Which = { taskId: number } | { commentIds: number[] };
/** The same with blanks for whichever is named. */
type By = { taskId: Given<number> } | { commentIds: Given<number[]> };

/** Comments on the tasks that a company can see. People stand in it by identifier: see {@link listRecords}. */
function selectTalk(db: Db, companyId: Given<number>, which: By) {
  return selectVisibleTasks(db, companyId)
    .innerJoin('comments as c', (join) =>
      join.onRef('c.company_id', '=', 't.company_id').onRef('c.task_id', '=', 't.task_id'),
    )
    .$call((query) =>
      'taskId' in which
        ? query.where('c.task_id', '=', which.taskId)
        : query.where('c.comment_id', '=', sql<number>`any(${which.commentIds}::bigint[])`),
    )
    .select([
      'c.company_id',
      'c.comment_id',
      'c.task_id',
      'c.sender_id',
      'c.client_sender',
      'c.message',
      'c.mentioned_emails',
    ])
    .select(['c.reply_to', 'c.image', 'c.is_edited', 'c.is_deleted', 'c.created_at', 'c.edited_at'])
    .select([
      sql<number[]>`array(
        select m.employee_id from comment_mentions as m
        where m.company_id = c.company_id and m.comment_id = c.comment_id
        order by m.employee_id)`.as('mentioned_ids'),
      sql<number[]>`array(
        select l.employee_id from comment_likes as l
        where l.company_id = c.company_id and l.comment_id = c.comment_id
        order by l.created_at, l.employee_id)`.as('liker_ids'),
      sql<number[]>`array(
        select v.employee_id from comment_views as v
        where v.company_id = c.company_id and v.comment_id = c.comment_id
        order by v.seen_at, v.employee_id)`.as('viewer_ids'),
      sql<number[]>`array(
        select (extract(epoch from v.seen_at) * 1000)::bigint from comment_views as v
        where v.company_id = c.company_id and v.comment_id = c.comment_id
        order by v.seen_at, v.employee_id)`.as('seen_at_ms'),
    ]);
}

type TalkRow = Awaited<ReturnType<ReturnType<typeof selectTalk>['execute']>>[number];
export type Person = { employee_id: number; name: string; email: string; picture_id: string | null };

/** Who looks, and with which addresses the answer is made. */
export type Viewer = { viewerId: number; settings: Pick<Settings, 'appUrl' | 'publicUrl'> };

/**
 * The comments of a task in the order in which they were written, or one of them, without their replies.
 * One statement: the first row also carries the people of all rows, each once. Joined to every like and view instead,
 * they cost the larger part of the time, and all of it where the planner's statistics are behind.
 */
export async function listRecords(
  db: Db,
  companyId: number,
  which: Which,
  viewer: Viewer,
): Promise<z.input<typeof Comment>[]> {
  const rows = await readTalk(db, 'taskId' in which ? 'taskId' : 'commentIds', { companyId, ...which });
  const people = new Map(rows[0]?.people?.map((person) => [person.employee_id, person]));
  return rows.map((row) => toComment(row, people, viewer));
}

type Named = { companyId: number; taskId?: number; commentIds?: number[] };

const readTalk = compiledFor<'taskId' | 'commentIds', Named, TalkRow & { people: Person[] | null }>((db, blank, by) => {
  const companyId = blank('companyId');
  const which = { [by]: blank(by) } as By;
  return db
    .with(
      (cte) => cte('talk').materialized(),
      () => selectTalk(db, companyId, which),
    )
    .selectFrom('talk')
    .selectAll()
    .select(
      sql<Person[] | null>`case when row_number() over (order by comment_id) = 1 then (
        select json_agg(json_build_object(
          'employee_id', e.employee_id, 'name', e.name, 'email', e.email, 'picture_id', e.picture_id))
        from employees as e
        where e.company_id = ${companyId} and e.employee_id = any(array(
          select unnest(sender_id || mentioned_ids || liker_ids || viewer_ids) from talk))
      ) end`.as('people'),
    )
    .orderBy('comment_id')
    .compile();
});

/** One comment without its replies. */
export async function findRecord(
  db: Db,
  companyId: number,
  commentId: number,
  viewer: Viewer,
): Promise<z.input<typeof Comment> | undefined> {
  const [comment] = await listRecords(db, companyId, { commentIds: [commentId] }, viewer);
  return comment;
}

/** Whoever is about to write. */
export async function findPerson(db: Db, companyId: number, employeeId: number): Promise<Person> {
  const [person] = await readPerson(db, { companyId, employeeId });
  return person!;
}

const readPerson = compiled<{ companyId: number; employeeId: number }, Person>((db, blank) =>
  db
    .selectFrom('employees')
    .where('company_id', '=', blank('companyId'))
    .where('employee_id', '=', blank('employeeId'))
    .select(['employee_id', 'name', 'email', 'picture_id'])
    .compile(),
);

/** A comment as it has just been written: nobody has liked or seen it yet. */
export function toNewRecord(
  comment: NewComment,
  { sender, mentioned, settings }: { sender: Person; mentioned: readonly Person[]; settings: Viewer['settings'] },
): z.input<typeof Comment> {
  const row: TalkRow = {
    company_id: comment.companyId,
    comment_id: comment.commentId,
    task_id: comment.taskId,
    sender_id: comment.senderId,
    client_sender: comment.clientSender,
    message: comment.message,
    mentioned_emails: comment.mentionedEmails,
    reply_to: comment.replyTo,
    image: comment.image,
    is_edited: false,
    is_deleted: false,
    created_at: comment.now,
    edited_at: null,
    mentioned_ids: comment.mentionedIds,
    liker_ids: [],
    viewer_ids: [],
    seen_at_ms: [],
  };
  const people = new Map([...mentioned, sender].map((person) => [person.employee_id, person]));
  return toComment(row, people, { viewerId: comment.senderId, settings });
}

/** The row as the viewer sees it. Of a deleted comment nothing is shown of what it said. */
function toComment(
  row: TalkRow,
  people: ReadonlyMap<number, Person>,
  { viewerId, settings }: Viewer,
): z.input<typeof Comment> {
  const { is_deleted: isDeleted } = row;
  const nameOf = (employeeId: number): string => people.get(employeeId)!.name;
  const sender = people.get(row.sender_id)!;
  return {
    _id: row.comment_id,
    taskId: row.task_id,
    sender: {
      _id: row.sender_id,
      name: sender.name,
      profilePicture: pictureUrl(settings, row.company_id, sender.picture_id),
    },
    ClientSender: row.client_sender,
    message: isDeleted ? null : row.message,
    mentionedEmails: isDeleted ? [] : row.mentioned_emails,
    mentions: isDeleted
      ? []
      : row.mentioned_ids.map((_id) => ({ _id, name: nameOf(_id), email: people.get(_id)!.email })),
    reply_to: row.reply_to,
    image: isDeleted ? null : row.image,
    isEdited: row.is_edited,
    isDeleted,
    likes: row.liker_ids.map((employee_id) => ({ employee_id, name: nameOf(employee_id) })),
    likeCount: row.liker_ids.length,
    likedByMe: row.liker_ids.includes(viewerId),
    seenBy: row.viewer_ids.map((employee_id, index) => ({
      employee_id,
      name: nameOf(employee_id),
      seenAt: new Date(row.seen_at_ms[index]!),
    })),
    deepLink: deepLinkOf(settings, row.task_id, row.comment_id),
    createdAt: row.created_at,
    editedAt: row.edited_at,
    replies: [],
  };
}
