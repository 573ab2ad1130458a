import { z } from 'zod';
import { FORBIDDEN } from '../../errors/errors.ts';
import { rest } from '../../kernel/operation.ts';
import { member } from '../../kernel/procedures.ts';
import { ownId } from '../../kernel/wire/fields.ts';
import { requireSelf } from './queries.ts';
import { deleteWhere } from './delete-where.ts';

export const clearNotifications = member('notifications')
  .meta(
    rest('DELETE /notifications/{user_id}/clear/', {
      section: 'Notifications',
      summary: "Delete all of one's own notifications",
      notAudited: 'changes only what its caller sees of their own notifications',
      errors: [FORBIDDEN],
    }),
  )
  .input(z.object({ user_id: ownId() }))
  .output(z.object({ deleted: z.int() }))
  .mutation(async ({ ctx, input }) => {
    const recipient = await requireSelf(ctx.db, ctx.caller, input.user_id);
    return { deleted: await deleteWhere(ctx.db, recipient, 'all', ctx.services.clock.now()) };
  });
