import type { Db } from '../../../db/open.ts';
import { changeCounts, lockCounts, type Recipient } from './queries.ts';
import { clearTallies, keepTallies, talliedColumns } from './tallies.ts';

/** Deletes the named notifications of a person, or all of them, and answers how many there were. */
export async function removeNotifications(
  db: Db,
  recipient: Recipient,
  ids: number[] | 'all',
  now: Date,
): Promise<number> {
  await lockCounts(db, recipient);
  const gone = await db
    .deleteFrom('notifications')
    .where('company_id', '=', recipient.companyId)
    .where('recipient_id', '=', recipient.employeeId)
    .$if(ids !== 'all', (query) => query.where((eb) => eb('notification_id', '=', eb.fn.any(eb.val(ids as number[])))))
    .returning(['notification_id', ...talliedColumns])
    .execute();
  if (gone.length > 0) {
    if (ids === 'all') await clearTallies(db, recipient);
    else
      await keepTallies(
        db,
        recipient,
        gone.map((one) => ({ ...one, by: -1 })),
      );
    await changeCounts(db, recipient, {
      unread: -gone.filter((one) => !one.is_read).length,
      total: -gone.length,
      type: 'notification.deleted',
      ids: gone.map((one) => one.notification_id),
      now,
    });
  }
  return gone.length;
}
