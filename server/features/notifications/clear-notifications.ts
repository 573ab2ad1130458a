import { z } from 'zod';
import { FORBIDDEN } from '../../kernel/faults.ts';
import { rest } from '../../kernel/operation.ts';
import { member } from '../../kernel/procedures.ts';
import { id } from '../../kernel/wire.ts';
import { requireSelf } from './queries.ts';
import { removeNotifications } from './remove-notifications.ts';

export const clearNotifications = member
  .meta(
    rest('DELETE /notifications/{user_id}/clear/', {
      section: 'Notifications',
      summary: "Delete all of one's own notifications",
      faults: [FORBIDDEN],
    }),
  )
  .input(z.object({ user_id: id }))
  .output(z.object({ deleted: z.int() }))
  .mutation(async ({ ctx, input }) => {
    const recipient = await requireSelf(ctx.db, ctx.caller, input.user_id);
    return { deleted: await removeNotifications(ctx.db, recipient, 'all', ctx.services.clock.now()) };
  });
