import type { z } from 'zod';
import type { Db } from '../../../db/open.ts';
import type { Context, Member } from '../../kernel/context.ts';
import { NOT_FOUND } from '../../kernel/faults.ts';
import { changeCounts, lockCounts, ownNotifications, toNotification, withRecord } from './queries.ts';
import type { Notification } from './schemas.ts';
import { keepTallies, talliedColumns } from './tallies.ts';

export type Flags = { is_read: boolean; is_starred: boolean; is_later: boolean; is_archived: boolean };

/**
 * Sets flags of one of the caller's notifications; the badge follows where it was read, or unread again. Flags that are
 * as they were change nothing and make no event.
 */
export async function changeNotification(
  { db, caller, services }: Context & { db: Db; caller: Member },
  notificationId: number,
  { flags, type }: { flags: Partial<Flags>; type: 'notification.read' | 'notification.updated' },
): Promise<z.input<typeof Notification>> {
  const { companyId, employeeId } = caller;
  await lockCounts(db, caller);
  const one = () => ownNotifications(db, caller).where('n.notification_id', '=', notificationId);
  const before = await one()
    .select(talliedColumns.map((name) => `n.${name}` as const))
    .executeTakeFirst();
  if (!before) throw NOT_FOUND();
  const after = { ...before, ...flags };
  if (talliedColumns.some((name) => after[name] !== before[name])) {
    await db
      .updateTable('notifications')
      .set(flags)
      .where('company_id', '=', companyId)
      .where('recipient_id', '=', employeeId)
      .where('notification_id', '=', notificationId)
      .execute();
    await keepTallies(db, caller, [
      { ...before, by: -1 },
      { ...after, by: 1 },
    ]);
    const { is_read, is_starred, is_later, is_archived } = after;
    await changeCounts(db, caller, {
      unread: Number(before.is_read) - Number(is_read),
      total: 0,
      ids: [notificationId],
      now: services.clock.now(),
      ...(type === 'notification.read' ? { type } : { type, flags: { is_read, is_starred, is_later, is_archived } }),
    });
  }
  return toNotification(await withRecord(one()).executeTakeFirstOrThrow());
}
