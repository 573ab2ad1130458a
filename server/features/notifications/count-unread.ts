import { z } from 'zod';
import { FORBIDDEN } from '../../errors/errors.ts';
import { rest } from '../../kernel/operation.ts';
import { member } from '../../kernel/procedures.ts';
import { ownId } from '../../kernel/wire/fields.ts';
import { readCounters, requireSelf } from './queries.ts';

export const countUnread = member('notifications')
  .meta(
    rest('GET /notifications/unread-count/{user_id}/', {
      section: 'Notifications',
      summary: "How many of one's own notifications are unread",
      description: 'The same number as the total of the list with `read=false`.',
      errors: [FORBIDDEN],
    }),
  )
  .input(z.object({ user_id: ownId() }))
  .output(z.object({ unread: z.int() }))
  .query(async ({ ctx, input }) => {
    const recipient = await requireSelf(ctx.db, ctx.caller, input.user_id);
    const { unread } = await readCounters(ctx.db, recipient);
    return { unread };
  });
