import type { z } from 'zod';
import type { Db } from '../../../db/open.ts';
import type { Context, Member } from '../../kernel/context.ts';
import { NOT_FOUND } from '../../kernel/faults.ts';
import { changeCounts, lockCounts, ownNotifications, toNotification, withRecord } from './queries.ts';
import type { Notification } from './schemas.ts';
import { keepTallies, talliedColumns } from './tallies.ts';

type Flags = Partial<{ is_read: boolean; is_starred: boolean; is_later: boolean; is_archived: boolean }>;

/** Sets flags of one of the caller's notifications; the badge follows where it was read, or unread again. */
export async function changeNotification(
  { db, caller, services }: Context & { db: Db; caller: Member },
  notificationId: number,
  flags: Flags,
): Promise<z.input<typeof Notification>> {
  const { companyId, employeeId } = caller;
  await lockCounts(db, caller);
  const one = () => ownNotifications(db, caller).where('n.notification_id', '=', notificationId);
  const before = await one()
    .select(talliedColumns.map((name) => `n.${name}` as const))
    .executeTakeFirst();
  if (!before) throw NOT_FOUND();
  if (Object.keys(flags).length > 0) {
    await db
      .updateTable('notifications')
      .set(flags)
      .where('company_id', '=', companyId)
      .where('recipient_id', '=', employeeId)
      .where('notification_id', '=', notificationId)
      .execute();
    await keepTallies(db, caller, [
      { ...before, by: -1 },
      { ...before, ...flags, by: 1 },
    ]);
  }
  if (flags.is_read !== undefined && flags.is_read !== before.is_read) {
    await changeCounts(db, caller, {
      unread: flags.is_read ? -1 : 1,
      total: 0,
      type: 'notification.read',
      ids: [notificationId],
      now: services.clock.now(),
    });
  }
  return toNotification(await withRecord(one()).executeTakeFirstOrThrow());
}
