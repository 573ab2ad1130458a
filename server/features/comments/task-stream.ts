import { z } from 'zod';
import { eventFields, StreamOpened, StreamReset, type StoredEvent, type StreamKind } from '../../kernel/streams.ts';
import { id } from '../../kernel/wire/fields.ts';
import { moment } from '../../kernel/wire/moments.ts';
import { listNames } from '../employees/queries.ts';
import { findVisibleTasks } from '../tasks/queries.ts';
import { listCommentViews } from './comment-view.ts';
import { estimateCommentBytes } from './comment-sizes.ts';
import { CommentNow, readAbout } from './schemas.ts';

const aboutComment = <Type extends string>(type: Type, description: string) =>
  z
    .object({
      ...eventFields(type),
      taskId: id,
      commentId: id,
      actorId: id.nullable().meta({ description: 'Who did it, where that is known' }),
      comment: CommentNow.nullable().meta({
        description: 'The comment as it stands when this is sent, which may be later; null where it is gone',
      }),
    })
    .meta({ id: type, description });

const CommentSeen = z
  .object({
    ...eventFields('comment.seen'),
    taskId: id,
    commentIds: z.array(id).meta({ description: 'What they had not seen before' }),
    seenBy: z.object({ employee_id: id, name: z.string(), seenAt: moment }),
  })
  .meta({ id: 'comment.seen', description: 'Somebody has seen comments of others.' });

/** The events of the comments on a task. */
export const CommentEvent = z.discriminatedUnion('type', [
  aboutComment('comment.created', 'Somebody has written a comment.'),
  aboutComment('comment.edited', 'Its author has changed it.'),
  aboutComment('comment.deleted', 'It was deleted: `comment` is its tombstone where it has replies, else null.'),
  aboutComment('comment.liked', 'Somebody likes it.'),
  aboutComment('comment.unliked', 'Somebody has taken their like back.'),
  CommentSeen,
  StreamReset,
  StreamOpened,
]);

/** The size of an identifier in a list. */
const identifierBytes = 8;

type TaskEvent = z.infer<typeof CommentEvent>;

const Seen = z.object({ comment_ids: z.array(id), task_id: id, employee_id: id });

const name = 'task';

/** The stream of the comments on a task. */
export const streamOf = (taskId: number): string => `${name} ${taskId}`;

/** The comments on a task, for everyone who can see the task. */
export const taskStream: StreamKind<TaskEvent> = {
  name,
  event: CommentEvent,

  async toEvents({ db, settings }, companyId, stored) {
    const abouts = stored.filter(({ type }) => type !== 'comment.seen').map(({ payload }) => readAbout(payload));
    const views = stored.filter(({ type }) => type === 'comment.seen').map(({ payload }) => Seen.parse(payload));
    const commentIds = [...new Set(abouts.map((about) => about.commentId))];
    // No employee has the identifier 0: `forViewer` sets likedByMe.
    const records =
      commentIds.length === 0 ? [] : await listCommentViews(db, companyId, commentIds, { viewerId: 0, settings });
    const comments = new Map(records.map((record) => [record._id, record]));
    const names =
      views.length === 0
        ? new Map()
        : await listNames(
            db,
            companyId,
            views.map((one) => one.employee_id),
          );
    return stored.map((event) => (event.type === 'comment.seen' ? toSeen(event, names) : toAbout(event, comments)));
  },

  async estimateBytes(db, companyId, stored) {
    const bytesOf = await estimateCommentBytes(
      db,
      companyId,
      stored.flatMap(({ type, payload }) => (type === 'comment.seen' ? [] : readAbout(payload).commentId)),
    );
    return stored.map(({ type, payload }) =>
      type === 'comment.seen'
        ? Seen.parse(payload).comment_ids.length * identifierBytes
        : (bytesOf.get(readAbout(payload).commentId) ?? 0),
    );
  },

  forViewer(event, { employeeId }) {
    if (!('comment' in event) || !event.comment) return event;
    const likedByMe = event.comment.likes.some((like) => like.employee_id === employeeId);
    // Most subscribers share one object, and so its JSON.
    if (!likedByMe) return event;
    return { ...event, comment: { ...event.comment, likedByMe } };
  },

  findReadable: findVisibleTasks,
};

function toAbout({ sequence, type, at, payload }: StoredEvent, comments: ReadonlyMap<number, unknown>) {
  const { taskId, commentId, actorId } = readAbout(payload);
  return { id: sequence, type, at, taskId, commentId, actorId, comment: comments.get(commentId) ?? null };
}

function toSeen({ sequence, type, at, payload }: StoredEvent, names: ReadonlyMap<number, string>) {
  const { comment_ids: commentIds, task_id: taskId, employee_id } = Seen.parse(payload);
  const seenBy = { employee_id, name: names.get(employee_id) ?? '', seenAt: at };
  return { id: sequence, type, at, taskId, commentIds, seenBy };
}
