import type { z } from 'zod';
import type { Db } from '../../../db/open.ts';
import type { Settings } from '../../kernel/context.ts';
import { pictureUrl } from '../employees/queries.ts';
import {
  fewCommentsMax,
  fewPeopleMax,
  readComments,
  type CommentRow,
  type Person,
  type RelatedRows,
} from './comment-rows.ts';
import { deepLinkOf, type NewComment } from './queries.ts';
import type { Comment } from './schemas.ts';

/** The viewer, and the addresses in the answer. */
export type Viewer = { viewerId: number; settings: Pick<Settings, 'appUrl' | 'publicUrl'> };

/** Comments in the order of their creation, without replies. */
export async function listCommentViews(
  db: Db,
  companyId: number,
  commentIds: number[],
  viewer: Viewer,
): Promise<z.input<typeof Comment>[]> {
  const rows = await readComments(db, 'commentIds', { companyId, commentIds });
  return toCommentViews(rows, viewer);
}

/** Up to this many characters the comments of a task are answered at once. */
const fewCharactersMax = 512 * 1024;

/** All comments of a task in the same form; undefined if they are too many or too long to hold at once. */
export async function listFewComments(
  db: Db,
  companyId: number,
  taskId: number,
  viewer: Viewer,
): Promise<z.input<typeof Comment>[] | undefined> {
  const rows = await readComments(db, 'taskId', { companyId, taskId });
  const { mentions = [], likes = [], views = [] } = rows[0]?.related ?? {};
  if (rows.length > fewCommentsMax) return undefined;
  if ([mentions, likes, views].some((related) => related.length > fewPeopleMax)) return undefined;
  const length = rows.reduce((sum, { message }) => sum + (message?.length ?? 0), 0);
  return length > fewCharactersMax ? undefined : toCommentViews(rows, viewer);
}

function toCommentViews(
  rows: (CommentRow & { related: RelatedRows | null })[],
  viewer: Viewer,
): z.input<typeof Comment>[] {
  const related = rows[0]?.related;
  if (!related) return [];
  const people = new Map(related.people.map((person) => [person.employee_id, person]));
  const attachments = groupByComment(related);
  return rows.map((row) => toComment(row, attachments.get(row.comment_id) ?? nothing, people, viewer));
}

/** The related rows of one comment, each list in its order. */
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
  const [comment] = await listCommentViews(db, companyId, [commentId], viewer);
  return comment;
}

/** A new comment, which nobody has liked or seen yet. */
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

/** The row as the viewer sees it. A deleted comment shows nothing of its content. */
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
