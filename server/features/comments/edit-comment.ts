import { z } from 'zod';
import { invalid, NOT_FOUND } from '../../kernel/faults.ts';
import { rest } from '../../kernel/operation.ts';
import { member } from '../../kernel/procedures.ts';
import { publish } from '../../kernel/publish.ts';
import { deliver } from '../../kernel/reaction.ts';
import { email, id } from '../../kernel/wire.ts';
import { lockComment, replaceMentions } from './change-comment.ts';
import { streamOf } from './events.ts';
import { NOT_THE_AUTHOR } from './faults.ts';
import { mentionedEmailsMax, resolveMentions } from './mentions.ts';
import { commentEdited } from './reactions.ts';
import { findRecord } from './records.ts';
import { plainTextOf, richText } from './rich-text.ts';
import { Comment } from './schemas.ts';

export const editComment = member
  .meta(
    rest('PATCH /api/edit-task-chats/{comment_id}/', {
      section: 'Task comments',
      summary: "Edit one's own comment",
      description:
        'Replaces the message and the mentions and sets `isEdited`. What is left out stays as it is; at least one of the two must be sent. Only people who were not mentioned before are notified, once for each comment.',
      faults: [NOT_THE_AUTHOR],
      example: { message: '<p>Ready for review now, @grace@example.com</p>', mentionedEmails: [] },
    }),
  )
  .input(
    z.object({
      comment_id: id,
      message: richText.optional(),
      mentionedEmails: z.array(email).max(mentionedEmailsMax).optional(),
    }),
  )
  .output(Comment)
  .mutation(async ({ ctx, input }) => {
    const { db, caller, services } = ctx;
    const { companyId, employeeId: viewerId } = caller;
    const { comment_id: commentId } = input;
    if (input.message === undefined && input.mentionedEmails === undefined) {
      throw invalid([], 'must have at least one of message and mentionedEmails');
    }
    const comment = await lockComment(db, companyId, commentId);
    if (!comment) throw NOT_FOUND();
    if (comment.sender_id !== viewerId) throw NOT_THE_AUTHOR();

    const message = input.message ?? comment.message!;
    const listed = [...new Set(input.mentionedEmails ?? comment.mentioned_emails)];
    // Whoever is on the stored list may have left meanwhile: that is no mistake of this edit.
    const checked = input.mentionedEmails === undefined ? [] : listed;
    const kept = input.mentionedEmails === undefined ? listed.map((address) => `@${address}`) : [];
    const text = [plainTextOf(message), ...kept].join('\n');
    const mentioned = await resolveMentions(db, companyId, { listed: checked, text });
    const mentionedIds = mentioned.map((person) => person.employee_id);
    const now = services.clock.now();
    await db
      .updateTable('comments')
      .set({ message, mentioned_emails: listed, is_edited: true, edited_at: now })
      .where('company_id', '=', companyId)
      .where('comment_id', '=', commentId)
      .execute();
    const newlyMentioned = await replaceMentions(db, companyId, { commentId, mentionedIds });

    const payload = { comment_id: commentId, task_id: comment.task_id, sender_id: comment.sender_id };
    await publish(db, { companyId, stream: streamOf(comment.task_id), type: 'comment.edited', payload, at: now });
    if (newlyMentioned.length > 0) {
      await deliver(db, commentEdited, {
        dedupeKey: `${commentId} ${now.toISOString()}`,
        payload: { companyId, commentId, newlyMentioned },
        now,
      });
      ctx.afterCommit(services.wakeDeliveries);
    }
    const record = await findRecord(db, companyId, commentId, { viewerId, settings: services.settings });
    if (!record) throw NOT_FOUND();
    return record;
  });
