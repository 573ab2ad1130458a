import { z } from 'zod';
import { inOrder } from '../../../db/pipeline/in-order.ts';
import { invalid, notFoundIn } from '../../errors/errors.ts';
import { rule } from '../../errors/issues.ts';
import { rest } from '../../kernel/operation.ts';
import { member } from '../../kernel/procedures.ts';
import { appendEvent } from '../../kernel/append-event.ts';
import { enqueueJob } from '../../kernel/job.ts';
import { email, idOf, ownId } from '../../kernel/wire/fields.ts';
import { findVisibleTask } from '../tasks/queries.ts';
import { auditComment } from './audited-comment.ts';
import { streamOf } from './task-stream.ts';
import { NOT_THE_SENDER } from './errors.ts';
import { mentionedEmailsMax, resolveMentions, textMentionsMax } from './mentions.ts';
import { insertComment, insertMentions, lockParent, reserveCommentId, type NewComment } from './queries.ts';
import { commentCreated } from './jobs.ts';
import { findPerson } from './comment-rows.ts';
import { toNewCommentView } from './comment-view.ts';
import { format, message, plainTextOf, readMessage } from './rich-text.ts';
import { besideTheComment, Comment } from './schemas.ts';

/** The service only passes it on and never fetches it, so it must be a plain URL wherever it is inserted. */
const imageUrl = z
  .string()
  .max(2048, 'must have at most 2048 characters')
  .refine(
    (value) => /^https:\/\/[^\s\p{Cc}"<>\\]+$/u.test(value) && URL.canParse(value),
    rule('invalid_format', 'must be an https URL'),
  )
  .meta({ description: 'https URL of an image', format: 'uri', examples: ['https://files.example.com/plan.png'] });

export const createComment = member('comments')
  .meta(
    rest('POST /api/task-chats/', {
      section: 'Task comments',
      summary: 'Write a comment on a task',
      description: `\`sender\` is the caller. \`message\` is rich text, made safe before it is stored, or plain text with \`format: "text"\`; with an \`image\` it may be empty or omitted. The mentioned people are those in \`mentionedEmails\` (each an active employee of the company) and those whose address is in the text as \`@ada@example.com\` (of the first ${textMentionsMax} addresses; an unknown one stays plain text). Mentioned people get a notification and a mail (to one address at most 20 mails an hour from one company, and 3 a day while an invitation that was mailed is open); the task's owner and collaborators and the author of the comment replied to get a notification; nobody is notified twice, or of their own comment.`,
      errors: [NOT_THE_SENDER],
      example: {
        taskId: 12,
        sender: 7,
        ClientSender: null,
        message: '<p>Ready for review, @grace@example.com</p>',
        mentionedEmails: ['alan@example.com'],
        reply_to: null,
        image: null,
      },
      tool: {
        name: 'comment',
        sends: { format: 'text' },
        hides: ['sender', 'ClientSender', 'image'],
        describes: { message: 'At most 64 KiB' },
        richText: ['message'],
        leavesOut: besideTheComment,
      },
    }),
  )
  .input(
    z.object({
      taskId: idOf('task'),
      sender: ownId().meta({ description: 'The employee who writes: the caller' }),
      ClientSender: z.int().nullish().meta({ description: 'Kept and answered as it was sent' }),
      message: message.nullish(),
      format,
      mentionedEmails: z.array(email).max(mentionedEmailsMax).default([]),
      reply_to: idOf('comment').nullish().meta({ description: 'A comment of the same task' }),
      image: imageUrl.nullish(),
    }),
  )
  .output(Comment)
  .mutation(async ({ ctx, input }) => {
    const { db, caller, services } = ctx;
    const { companyId, employeeId: senderId } = caller;
    const { taskId, image = null, reply_to: replyTo = null } = input;
    if (input.sender !== senderId) throw NOT_THE_SENDER();
    const stored = readMessage({ message: input.message ?? '', format: input.format }, { hasImage: image !== null });
    const [task, hasParent, mentioned, sender, commentId] = await inOrder(db, [
      () => findVisibleTask(db, companyId, taskId),
      () => replyTo === null || lockParent(db, companyId, { taskId, commentId: replyTo }),
      () => resolveMentions(db, companyId, { listed: input.mentionedEmails, text: plainTextOf(stored) }),
      () => findPerson(db, companyId, senderId),
      () => reserveCommentId(db),
    ]);
    if (!task) throw notFoundIn('taskId');
    if (!hasParent) throw invalid(['reply_to'], 'must be a comment of the same task', 'not_found');

    const comment: NewComment = {
      companyId,
      commentId,
      taskId,
      senderId,
      clientSender: input.ClientSender ?? null,
      message: stored,
      mentionedEmails: [...new Set(input.mentionedEmails)],
      replyTo,
      image,
      mentionedIds: mentioned.map((person) => person.employee_id),
      now: services.clock.now(),
    };
    const after = { taskId, senderId, message: stored, image };
    auditComment({ db, tokens: services.tokens, companyId }, 'created', { commentId, before: null, after });
    const { now: at } = comment;
    const payload = { comment_id: commentId, task_id: taskId, sender_id: senderId };
    const job = { dedupeKey: String(commentId), payload: { companyId, commentId }, now: at };
    await ctx.finish([
      () => enqueueJob(db, commentCreated, job),
      () => insertComment(db, comment),
      () => insertMentions(db, comment),
      () => appendEvent(db, { companyId, stream: streamOf(taskId), type: 'comment.created', payload, at }),
    ]);
    return toNewCommentView(comment, { sender, mentioned, settings: services.settings });
  });
