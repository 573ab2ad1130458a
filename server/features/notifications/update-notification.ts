import { z } from 'zod';
import { rest } from '../../kernel/operation.ts';
import { member } from '../../kernel/procedures.ts';
import { idOf } from '../../kernel/wire/fields.ts';
import { updateFlags } from './update-flags.ts';
import { Notification } from './schemas.ts';

export const updateNotification = member('notifications')
  .meta(
    rest('PATCH /api/notifications/{notification_id}/', {
      section: 'Additions',
      summary: "Archive, keep for later, star or mark one of one's own notifications",
      notAudited: 'changes only what its caller sees of their own notifications',
      description:
        'Any of the four flags; without any nothing changes. One that changes is told to `notifications.onMine` as `notification.updated`, once for all that changed.',
      example: { isArchive: true, starred: false },
    }),
  )
  .input(
    z.object({
      notification_id: idOf('notification'),
      isArchive: z.boolean().optional(),
      later: z.boolean().optional(),
      starred: z.boolean().optional(),
      read: z.boolean().optional(),
    }),
  )
  .output(Notification)
  .mutation(({ ctx, input }) => {
    const { notification_id: notificationId, isArchive, later, starred, read } = input;
    const given = { is_archived: isArchive, is_later: later, is_starred: starred, is_read: read };
    const flags = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
    return updateFlags(ctx, notificationId, { flags, type: 'notification.updated' });
  });
