import { sql } from 'kysely';
import type { z } from 'zod';
import { compiled, compiledFor, type ValueOrPlaceholder } from '../../../db/pipeline/compiled.ts';
import { list } from '../../../db/pipeline/list.ts';
import type { Db } from '../../../db/open.ts';
import type { Settings } from '../../kernel/context.ts';
import { pictureUrl } from '../employees/queries.ts';
import { selectVisibleTasks } from '../tasks/queries.ts';
import { deepLinkOf, type NewComment } from './queries.ts';
import type { Comment } from './schemas.ts';

/** The task or the comments that are asked for. */
type By = { taskId: ValueOrPlaceholder<number> } | { commentIds: ValueOrPlaceholder<number[]> };

/** Comments on the tasks that a company can see. People stand in it by identifier: see {@link listCommentViews}. */
function selectComments(db: Db, companyId: ValueOrPlaceholder<number>, which: By) {
  return selectVisibleTasks(db, companyId)
    .innerJoin('comments as c', (join) =>
      join.onRef('c.company_id', '=', 't.company_id').onRef('c.task_id', '=', 't.task_id'),
    )
    .$call((query) =>
      'taskId' in which
        ? query
            .where('c.task_id', '=', which.taskId)
            .orderBy('c.comment_id')
            .limit(sql.lit(fewCommentsMax + 1))
        : query.where('c.comment_id', '=', sql<number>`any(${list(which.commentIds, 'bigint')})`),
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
    .select(['c.reply_to', 'c.image', 'c.is_edited', 'c.is_deleted', 'c.created_at', 'c.edited_at']);
}

type CommentRow = Awaited<ReturnType<ReturnType<typeof selectComments>['execute']>>[number];
export type Person = { employee_id: number; name: string; email: string; picture_id: string | null };

/** Who looks, and with which addresses the answer is made. */
export type Viewer = { viewerId: number; settings: Pick<Settings, 'appUrl' | 'publicUrl'> };

/** What stands beside comments, in lists that begin with the comment: [comment, employee], or with the time in ms. */
type RelatedRows = {
  people: Person[];
  mentions: [number, number][];
  likes: [number, number][];
  views: [number, number, number][];
};

/**
 * Comments in the order in which they were written, without their replies.
 * One statement: the first row also carries what stands beside all rows, each of the people once. Looked up row by row it
 * costs twice as much; people joined to every like and view cost more again, and most where the planner's statistics
 * are behind.
 */
export async function listCommentViews(
  db: Db,
  companyId: number,
  which: { commentIds: number[] },
  viewer: Viewer,
): Promise<z.input<typeof Comment>[]> {
  const rows = await readComments(db, 'commentIds', { companyId, ...which });
  return toCommentViews(rows, viewer);
}

/** All comments of a task in the same form; undefined where they are too many or too long to be held at once. */
export async function listFewComments(
  db: Db,
  companyId: number,
  taskId: number,
  viewer: Viewer,
): Promise<z.input<typeof Comment>[] | undefined> {
  const rows = await readComments(db, 'taskId', { companyId, taskId });
  const { likes = [], views = [] } = rows[0]?.beside ?? {};
  if (rows.length > fewCommentsMax || likes.length > fewPeopleMax || views.length > fewPeopleMax) return undefined;
  const length = rows.reduce((sum, { message }) => sum + (message?.length ?? 0), 0);
  return length > fewCharactersMax ? undefined : toCommentViews(rows, viewer);
}

/** Up to so many comments, characters of their messages, and likes or views, a talk is answered in one piece. */
const fewCommentsMax = 100;
const fewCharactersMax = 512 * 1024;
const fewPeopleMax = 10_000;

function toCommentViews(
  rows: (CommentRow & { beside: RelatedRows | null })[],
  viewer: Viewer,
): z.input<typeof Comment>[] {
  const beside = rows[0]?.beside;
  if (!beside) return [];
  const people = new Map(beside.people.map((person) => [person.employee_id, person]));
  const attachments = groupByComment(beside);
  return rows.map((row) => toComment(row, attachments.get(row.comment_id) ?? nothing, people, viewer));
}

type Named = { companyId: number; taskId?: number; commentIds?: number[] };

const readComments = compiledFor<'taskId' | 'commentIds', Named, CommentRow & { beside: RelatedRows | null }>(
  (db, placeholder, by) => {
    const companyId = placeholder('companyId');
    const which = { [by]: placeholder(by) } as By;
    const relatedRows = (table: 'comment_mentions' | 'comment_likes' | 'comment_views') => sql`
    from ${sql.table(table)} where company_id = ${companyId} and comment_id = any(array(select comment_id from talk))
    ${by === 'taskId' ? sql`limit ${sql.lit(fewPeopleMax + 1)}` : sql``}`;
    return sql<CommentRow & { beside: RelatedRows | null }>`
    with talk as materialized (${selectComments(db, companyId, which)}),
    mentions as materialized (select comment_id, employee_id ${relatedRows('comment_mentions')}),
    likes as materialized (select comment_id, employee_id, created_at ${relatedRows('comment_likes')}),
    views as materialized (select comment_id, employee_id, seen_at ${relatedRows('comment_views')})
    select talk.*, case when row_number() over (order by comment_id) = 1 then json_build_object(
      'people', (
        select json_agg(json_build_object(
          'employee_id', e.employee_id, 'name', e.name, 'email', e.email, 'picture_id', e.picture_id))
        from employees as e
        where e.company_id = ${companyId} and e.employee_id = any(array(
          select sender_id from talk union all select employee_id from mentions
          union all select employee_id from likes union all select employee_id from views
        ))
      ),
      'mentions', array(select array[comment_id, employee_id] from mentions order by employee_id),
      'likes', array(select array[comment_id, employee_id] from likes order by created_at, employee_id),
      'views', array(
        select array[comment_id, employee_id, (extract(epoch from seen_at) * 1000)::bigint]
        from views order by seen_at, employee_id
      )
    ) end as beside
    from talk order by comment_id`.compile(db);
  },
);

/** What stands beside one comment, each in its order. */
type Related = { mentionIds: number[]; likerIds: number[]; views: { employeeId: number; seenAt: Date }[] };
const nothing: Related = { mentionIds: [], likerIds: [], views: [] };

function groupByComment({ mentions, likes, views }: RelatedRows): Map<number, Related> {
  const attached = new Map<number, Related>();
  const of = (commentId: number): Related => {
    let one = attached.get(commentId);
    if (!one) attached.set(commentId, (one = { mentionIds: [], likerIds: [], views: [] }));
    return one;
  };
  for (const [commentId, employeeId] of mentions) of(commentId).mentionIds.push(employeeId);
  for (const [commentId, employeeId] of likes) of(commentId).likerIds.push(employeeId);
  for (const [commentId, employeeId, ms] of views) of(commentId).views.push({ employeeId, seenAt: new Date(ms) });
  return attached;
}

/** One comment without its replies. */
export async function findCommentView(
  db: Db,
  companyId: number,
  commentId: number,
  viewer: Viewer,
): Promise<z.input<typeof Comment> | undefined> {
  const [comment] = await listCommentViews(db, companyId, { commentIds: [commentId] }, viewer);
  return comment;
}

/** The author of a new comment. */
export async function findPerson(db: Db, companyId: number, employeeId: number): Promise<Person> {
  const [person] = await readPerson(db, { companyId, employeeId });
  return person!;
}

const readPerson = compiled<{ companyId: number; employeeId: number }, Person>((db, placeholder) =>
  db
    .selectFrom('employees')
    .where('company_id', '=', placeholder('companyId'))
    .where('employee_id', '=', placeholder('employeeId'))
    .select(['employee_id', 'name', 'email', 'picture_id'])
    .compile(),
);

/** A comment as it has just been written: nobody has liked or seen it yet. */
export function toNewCommentView(
  comment: NewComment,
  { sender, mentioned, settings }: { sender: Person; mentioned: readonly Person[]; settings: Viewer['settings'] },
): z.input<typeof Comment> {
  const row: CommentRow = {
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
  };
  const attached = { ...nothing, mentionIds: comment.mentionedIds };
  const people = new Map([...mentioned, sender].map((person) => [person.employee_id, person]));
  return toComment(row, attached, people, { viewerId: comment.senderId, settings });
}

/** The row as the viewer sees it. Of a deleted comment nothing is shown of what it said. */
function toComment(
  row: CommentRow,
  { mentionIds, likerIds, views }: Related,
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
    mentions: isDeleted ? [] : mentionIds.map((_id) => ({ _id, name: nameOf(_id), email: people.get(_id)!.email })),
    reply_to: row.reply_to,
    image: isDeleted ? null : row.image,
    isEdited: row.is_edited,
    isDeleted,
    likes: likerIds.map((employee_id) => ({ employee_id, name: nameOf(employee_id) })),
    likeCount: likerIds.length,
    likedByMe: likerIds.includes(viewerId),
    seenBy: views.map(({ employeeId, seenAt }) => ({ employee_id: employeeId, name: nameOf(employeeId), seenAt })),
    deepLink: deepLinkOf(settings, row.task_id, row.comment_id),
    createdAt: row.created_at,
    editedAt: row.edited_at,
    replies: [],
  };
}
