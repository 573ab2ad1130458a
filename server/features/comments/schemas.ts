import { z } from 'zod';
import { id, idOf } from '../../kernel/wire/fields.ts';
import { moment } from '../../kernel/wire/moments.ts';
import { levelsMax } from './threads.ts';

/** A comment on a task, with all its replies. */
export const Comment = z
  .object({
    _id: idOf('comment'),
    taskId: idOf('task'),
    sender: z.object({
      _id: idOf('employee'),
      name: z.string(),
      profilePicture: z.string().nullable().meta({ description: 'URL of the picture' }),
    }),
    ClientSender: z.int().nullable(),
    message: z.string().nullable().meta({ description: 'Sanitised HTML, safe to show; null once deleted' }),
    mentionedEmails: z.array(z.string()).meta({ description: 'The addresses that the author listed' }),
    mentions: z
      .array(z.object({ _id: idOf('employee'), name: z.string(), email: z.string() }))
      .meta({ description: 'Who is mentioned, by the list or by an @address in the text' }),
    reply_to: idOf('comment').nullable(),
    image: z.string().nullable().meta({ description: 'https URL of an attached image' }),
    isEdited: z.boolean(),
    isDeleted: z.boolean().meta({ description: 'A deleted comment stays where it has replies, without its content' }),
    likes: z.array(z.object({ employee_id: idOf('employee'), name: z.string() })),
    likeCount: z.int(),
    likedByMe: z.boolean(),
    seenBy: z.array(z.object({ employee_id: idOf('employee'), name: z.string(), seenAt: moment })),
    deepLink: z.string().meta({ description: 'Where the frontend shows this comment' }),
    createdAt: moment,
    editedAt: moment.nullable(),
    get replies() {
      return z.array(Comment).meta({
        description: `Oldest first, nested as deep as the discussion goes; below level ${levelsMax} replies are siblings of the one they answer`,
      });
    },
  })
  .meta({ id: 'Comment' });

/** A comment without its replies. */
export const CommentNow = Comment.omit({ replies: true }).meta({ id: 'CommentNow' });

/** The payload of events of a comment as it is stored. */
const StoredAbout = z.object({ comment_id: id, task_id: id, sender_id: id.optional(), employee_id: id.optional() });

/** Which comment a stored event is about, and who did it. */
export function readAbout(payload: unknown) {
  const { comment_id: commentId, task_id: taskId, sender_id, employee_id } = StoredAbout.parse(payload);
  return { actorId: employee_id ?? sender_id ?? null, taskId, commentId };
}

/** What agents are not shown of comments. */
export const besideTheComment = [
  'taskId',
  'ClientSender',
  'profilePicture',
  'mentionedEmails',
  'likes',
  'likedByMe',
  'seenBy',
  'deepLink',
] as const;
