import { z } from 'zod';
import { FORBIDDEN } from '../../kernel/faults.ts';
import { rest } from '../../kernel/operation.ts';
import { member } from '../../kernel/procedures.ts';
import { id } from '../../kernel/wire.ts';
import { findCounts, requireSelf } from './queries.ts';

export const countUnread = member
  .meta(
    rest('GET /notifications/unread-count/{user_id}/', {
      section: 'Notifications',
      summary: "How many of one's own notifications are unread",
      description: 'The same number as the total of the list with `read=false`.',
      faults: [FORBIDDEN],
    }),
  )
  .input(z.object({ user_id: id }))
  .output(z.object({ unread: z.int() }))
  .query(async ({ ctx, input }) => {
    const recipient = await requireSelf(ctx.db, ctx.caller, input.user_id);
    const { unread } = await findCounts(ctx.db, recipient);
    return { unread };
  });
