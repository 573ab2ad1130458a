import type { Db } from '../../../db/open.ts';
import { appendRecipientEvent, lockCounters, type Recipient } from './queries.ts';

/** Deletes the given notifications of a person, or all of them, and returns how many there were. */
export async function deleteWhere(db: Db, recipient: Recipient, ids: number[] | 'all', now: Date): Promise<number> {
  await lockCounters(db, recipient);
  const gone = await db
    .deleteFrom('notifications')
    .where('company_id', '=', recipient.companyId)
    .where('recipient_id', '=', recipient.employeeId)
    .$if(ids !== 'all', (query) => query.where((eb) => eb('notification_id', '=', eb.fn.any(eb.val(ids as number[])))))
    .returning('notification_id')
    .execute();
  if (gone.length > 0) {
    await appendRecipientEvent(db, recipient, {
      type: 'notification.deleted',
      ids: gone.map((one) => one.notification_id),
      now,
    });
  }
  return gone.length;
}
