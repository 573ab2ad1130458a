import type { z } from 'zod';
import type { Db } from '../../../db/open.ts';
import type { Context, Member } from '../../kernel/context.ts';
import { NOT_FOUND } from '../../errors/errors.ts';
import { appendRecipientEvent, lockCounters, ownNotifications, toNotification, withRelatedRows } from './queries.ts';
import type { Notification } from './schemas.ts';

const flagNames = ['is_read', 'is_starred', 'is_later', 'is_archived'] as const;
export type Flags = Record<(typeof flagNames)[number], boolean>;

/** Sets flags of one of the caller's notifications, and updates the unread count. Unchanged flags cause no event. */
export async function updateFlags(
  { db, caller, services }: Context & { db: Db; caller: Member },
  notificationId: number,
  { flags, type }: { flags: Partial<Flags>; type: 'notification.read' | 'notification.updated' },
): Promise<z.input<typeof Notification>> {
  const { companyId, employeeId } = caller;
  await lockCounters(db, caller);
  const one = () => ownNotifications(db, caller).where('n.notification_id', '=', notificationId);
  const before = await one()
    .select(flagNames.map((name) => `n.${name}` as const))
    .executeTakeFirstOrThrow(() => NOT_FOUND());
  const after = { ...before, ...flags };
  if (flagNames.some((name) => after[name] !== before[name])) {
    await db
      .updateTable('notifications')
      .set(flags)
      .where('company_id', '=', companyId)
      .where('recipient_id', '=', employeeId)
      .where('notification_id', '=', notificationId)
      .execute();
    const { is_read, is_starred, is_later, is_archived } = after;
    await appendRecipientEvent(db, caller, {
      ids: [notificationId],
      now: services.clock.now(),
      ...(type === 'notification.read' ? { type } : { type, flags: { is_read, is_starred, is_later, is_archived } }),
    });
  }
  return toNotification(await withRelatedRows(one()).executeTakeFirstOrThrow());
}
