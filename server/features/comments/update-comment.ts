import { z } from 'zod';
import { NOT_FOUND } from '../../errors/errors.ts';
import { rest } from '../../kernel/operation.ts';
import { member } from '../../kernel/procedures.ts';
import { appendEvent } from '../../kernel/append-event.ts';
import { enqueueJob } from '../../kernel/job.ts';
import { email, idOf, isEmptyUpdate } from '../../kernel/wire/fields.ts';
import { lockComment, replaceMentions } from './change-comment.ts';
import { auditComment, contentOf } from './audited-comment.ts';
import { streamOf } from './task-stream.ts';
import { NOT_THE_AUTHOR } from './errors.ts';
import { mentionedEmailsMax, resolveMentions } from './mentions.ts';
import { commentEdited } from './jobs.ts';
import { findCommentView } from './comment-view.ts';
import { format, message, plainTextOf, readMessage } from './rich-text.ts';
import { Comment } from './schemas.ts';

export const updateComment = member('comments')
  .meta(
    rest('PATCH /api/edit-task-chats/{comment_id}/', {
      section: 'Task comments',
      summary: "Edit one's own comment",
      description:
        'Replaces the message and the mentions and sets `isEdited`. What is left out stays as it is; without either nothing changes. `message` may be empty where the comment has an image. Only people who were not mentioned before are notified, once for each comment.',
      errors: [NOT_THE_AUTHOR],
      example: { message: '<p>Ready for review now, @grace@example.com</p>', mentionedEmails: [] },
    }),
  )
  .input(
    z.object({
      comment_id: idOf('comment'),
      message: message.optional(),
      format,
      mentionedEmails: z.array(email).max(mentionedEmailsMax).optional(),
    }),
  )
  .output(Comment)
  .mutation(async ({ ctx, input }) => {
    const { db, caller, services } = ctx;
    const { companyId, employeeId: viewerId } = caller;
    const { comment_id: commentId } = input;
    const comment = await lockComment(db, companyId, commentId);
    if (!comment) throw NOT_FOUND();
    if (comment.sender_id !== viewerId) throw NOT_THE_AUTHOR();
    const getRecord = async () => {
      const record = await findCommentView(db, companyId, commentId, { viewerId, settings: services.settings });
      if (!record) throw NOT_FOUND();
      return record;
    };
    if (isEmptyUpdate(input, 'comment_id', 'format')) return getRecord();

    const stored =
      input.message === undefined
        ? comment.message!
        : readMessage({ message: input.message, format: input.format }, { hasImage: comment.image !== null });
    const listed = [...new Set(input.mentionedEmails ?? comment.mentioned_emails)];
    const lists = input.mentionedEmails === undefined ? { listed: [], kept: listed } : { listed, kept: [] };
    const mentioned = await resolveMentions(db, companyId, { ...lists, text: plainTextOf(stored) });
    const mentionedIds = mentioned.map((person) => person.employee_id);
    const now = services.clock.now();
    await db
      .updateTable('comments')
      .set({ message: stored, mentioned_emails: listed, is_edited: true, edited_at: now })
      .where('company_id', '=', companyId)
      .where('comment_id', '=', commentId)
      .execute();
    const newlyMentioned = await replaceMentions(db, companyId, { commentId, mentionedIds });

    const before = contentOf(comment);
    const after = { ...before, message: stored };
    auditComment({ db, tokens: services.tokens, companyId }, 'edited', { commentId, before, after });
    const payload = { comment_id: commentId, task_id: comment.task_id, sender_id: comment.sender_id };
    await appendEvent(db, { companyId, stream: streamOf(comment.task_id), type: 'comment.edited', payload, at: now });
    if (newlyMentioned.length > 0) {
      await enqueueJob(db, commentEdited, {
        dedupeKey: `${commentId} ${now.toISOString()}`,
        payload: { companyId, commentId, newlyMentioned },
        now,
      });
    }
    return getRecord();
  });
