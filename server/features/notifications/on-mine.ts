import { z } from 'zod';
import { stream } from '../../kernel/procedures.ts';
import { lastEventId } from '../../kernel/streams.ts';
import { NotificationEvent, recipientStream } from './recipient-stream.ts';

export const onMine = stream('notifications')
  .meta({
    section: 'Notifications',
    events: {
      schema: NotificationEvent,
      summary: "What happens to one's own notifications",
      description: 'New, read, otherwise changed and deleted ones, each with the new unread count for a badge.',
    },
  })
  .input(z.object({ lastEventId }).optional())
  .subscription(async ({ ctx, input }) => ctx.subscribe(recipientStream, ctx.caller.employeeId, input?.lastEventId));
