import { sql } from 'kysely';
import { z } from 'zod';
import { FORBIDDEN } from '../../errors/errors.ts';
import { rest } from '../../kernel/operation.ts';
import { member } from '../../kernel/procedures.ts';
import { ownId } from '../../kernel/wire/fields.ts';
import { appendRecipientEvent, lockCounters, requireSelf } from './queries.ts';

export const readAllNotifications = member('notifications')
  .meta(
    rest('POST /mark_notifications_as_read/{user_id}/', {
      section: 'Notifications',
      summary: "Mark all of one's own notifications as read",
      notAudited: 'changes only what its caller sees of their own notifications',
      description: '`updated` is how many were unread.',
      errors: [FORBIDDEN],
      tool: { name: 'mark_notifications', action: 'read_all', hides: ['user_id'] },
    }),
  )
  .input(z.object({ user_id: ownId() }))
  .output(z.object({ updated: z.int() }))
  .mutation(async ({ ctx, input }) => {
    const recipient = await requireSelf(ctx.db, ctx.caller, input.user_id);
    await lockCounters(ctx.db, recipient);
    const read = await ctx.db
      .updateTable('notifications')
      .set({ is_read: true })
      .where('company_id', '=', recipient.companyId)
      .where('recipient_id', '=', recipient.employeeId)
      // In this form every plan uses the index of unread notifications.
      .where(sql<boolean>`not is_read`)
      .returning('notification_id')
      .execute();
    if (read.length > 0) {
      const ids = read.map((one) => one.notification_id);
      const now = ctx.services.clock.now();
      await appendRecipientEvent(ctx.db, recipient, { type: 'notification.read', ids, now });
    }
    return { updated: read.length };
  });
