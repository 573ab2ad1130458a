import { z } from 'zod';
import { rest } from '../../kernel/operation.ts';
import { member } from '../../kernel/procedures.ts';
import { idOf } from '../../kernel/wire/fields.ts';
import { deleteWhere } from './delete-where.ts';

export const deleteNotifications = member('notifications')
  .meta(
    rest('DELETE /notifications/delete/', {
      section: 'Notifications',
      summary: "Delete some of one's own notifications",
      notAudited: 'changes only what its caller sees of their own notifications',
      description:
        "1 to 1,000 identifiers. Those of others' notifications delete nothing and are not reported; `deleted` counts what went.",
      example: { notification_ids: [11, 12] },
    }),
  )
  .input(z.object({ notification_ids: z.array(idOf('notification')).min(1).max(1_000) }))
  .output(z.object({ deleted: z.int() }))
  .mutation(async ({ ctx, input }) => ({
    deleted: await deleteWhere(ctx.db, ctx.caller, input.notification_ids, ctx.services.clock.now()),
  }));
