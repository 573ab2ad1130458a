import { z } from 'zod';
import { rest } from '../../kernel/operation.ts';
import { member } from '../../kernel/procedures.ts';
import { idOf } from '../../kernel/wire/fields.ts';
import { updateFlags } from './update-flags.ts';
import { Notification } from './schemas.ts';

export const readNotification = member('notifications')
  .meta(
    rest('PATCH /api/notifications/read/{notification_id}/', {
      section: 'Notifications',
      summary: "Mark one of one's own notifications as read",
      notAudited: 'changes only what its caller sees of their own notifications',
      description: 'Marking a read one changes nothing.',
      tool: { name: 'mark_notifications', action: 'read', leavesOut: ['recipient_id', 'app_type', 'priorty', 'later'] },
    }),
  )
  .input(z.object({ notification_id: idOf('notification') }))
  .output(Notification)
  .mutation(({ ctx, input }) =>
    updateFlags(ctx, input.notification_id, { flags: { is_read: true }, type: 'notification.read' }),
  );
