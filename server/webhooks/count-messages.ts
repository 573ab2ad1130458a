import { sql } from 'kysely';
import type { Db } from '../../db/open.ts';

/** `oldestSeconds` is the time since the oldest message that is due was due first; 0 if none is. */
export type MessageCounts = { pending: number; late: number; oldestSeconds: number };

/** A message that has been due for longer is late: the nodes do not keep up. */
const lateAfterMs = 60_000;

/** Counts messages of all nodes for enabled webhooks, in the index of pending ones. */
export async function countMessages(db: Db, now: Date): Promise<MessageCounts> {
  const { rows } = await sql<MessageCounts>`
    select count(*) as pending, count(*) filter (where due_at <= ${new Date(now.getTime() - lateAfterMs)}) as late,
      coalesce(extract(epoch from ${now}::timestamptz - min(due_at) filter (where due_at <= ${now})), 0)::float
        as "oldestSeconds"
    from webhook_messages as m join webhooks as w using (company_id, webhook_id)
    where m.state = 'pending' and w.is_enabled`.execute(db);
  return rows[0]!;
}
