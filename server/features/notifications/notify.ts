import { sql } from 'kysely';
import type { Db } from '../../../db/open.ts';
import { publish } from '../../kernel/publish.ts';
import { keepTallies, type Tallied } from './tallies.ts';

export const appTypes = ['hr', 'task'] as const;
export const categories = ['task', 'project', 'need_attention', 'message', 'notice'] as const;
export const priorities = ['primary', 'updates', 'others', 'activity'] as const;

/** A notification to be made, for one person. */
export type NewNotification = {
  recipientId: number;
  /** The fact and the reason, such as `comment 12 mentioned`: the same cause makes one notification for one person. */
  cause: string;
  appType: (typeof appTypes)[number];
  category: (typeof categories)[number];
  priority: (typeof priorities)[number];
  title: string;
  message: string;
  link: string | null;
  actorId: number | null;
  taskId?: number;
  commentId?: number;
  projectId?: number;
  isMention?: boolean;
};

export const streamName = 'recipient';

/** The stream of a person's notifications. */
export const streamOf = (recipientId: number): string => `${streamName} ${recipientId}`;

/**
 * Makes notifications, counts them as unread and tells their recipients' streams, in the caller's transaction.
 * One that was made before for the same cause is left alone, so a delivery may run twice. Answers for whom it is news:
 * whoever was told now, and whoever wants to be told of such things by other means only.
 */
export async function notify(
  db: Db,
  companyId: number,
  notifications: NewNotification[],
  now: Date,
): Promise<number[]> {
  const told: number[] = [];
  const unwanted = await findUnwanted(db, companyId, notifications);
  // By recipient, so that two transactions take the rows of their counters in the same order.
  for (const one of notifications.toSorted((a, b) => a.recipientId - b.recipientId)) {
    if (unwanted.has(keyOf(one.recipientId, one.category))) {
      told.push(one.recipientId);
      continue;
    }
    const made = await db
      .insertInto('notifications')
      .values({
        company_id: companyId,
        recipient_id: one.recipientId,
        cause: one.cause,
        app_type: one.appType,
        category: one.category,
        priority: one.priority,
        title: one.title,
        message: one.message,
        link: one.link,
        actor_id: one.actorId,
        task_id: one.taskId ?? null,
        comment_id: one.commentId ?? null,
        project_id: one.projectId ?? null,
        is_mention: one.isMention ?? false,
        created_at: now,
      })
      .onConflict((conflict) => conflict.columns(['company_id', 'recipient_id', 'cause']).doNothing())
      .returning('notification_id')
      .executeTakeFirst();
    if (!made) continue;
    const recipient = { companyId, employeeId: one.recipientId };
    const [unread] = await Promise.all([
      countUnread(db, companyId, one.recipientId),
      keepTallies(db, recipient, [{ ...talliedOf(one), by: 1 }]),
    ]);
    await publish(db, {
      companyId,
      stream: streamOf(one.recipientId),
      type: 'notification.created',
      payload: { notification_id: made.notification_id, unread },
      at: now,
    });
    told.push(one.recipientId);
  }
  return told;
}

/** As it is when it comes: without any flag but that of a mention. */
const talliedOf = ({ appType, category, priority, isMention = false }: NewNotification): Tallied => ({
  app_type: appType,
  category,
  priority,
  is_mention: isMention,
  is_read: false,
  is_starred: false,
  is_later: false,
  is_archived: false,
});

const keyOf = (employeeId: number, category: string): string => `${employeeId} ${category}`;

/** Who does not want notifications of such a category in the app: by a word of their own, else of their company. */
async function findUnwanted(db: Db, companyId: number, notifications: NewNotification[]): Promise<Set<string>> {
  const { rows } = await sql<{ employee_id: number; category: string }>`
    select w.employee_id, w.category
    from unnest(
      ${notifications.map((one) => one.recipientId)}::bigint[],
      ${notifications.map((one) => one.category)}::text[]
    ) as w (employee_id, category)
    left join notification_preferences p
      on p.company_id = ${companyId} and p.employee_id = w.employee_id and p.category = w.category
    left join notification_setups s on s.company_id = ${companyId} and s.category = w.category
    where not coalesce(p.in_app, s.in_app, true)`.execute(db);
  return new Set(rows.map((row) => keyOf(row.employee_id, row.category)));
}

async function countUnread(db: Db, companyId: number, employeeId: number): Promise<number> {
  const { rows } = await sql<{ unread: number }>`
    insert into notification_counts as c (company_id, employee_id, unread, total) values (${companyId}, ${employeeId}, 1, 1)
    on conflict (company_id, employee_id) do update set unread = c.unread + 1, total = c.total + 1
    returning unread`.execute(db);
  return rows[0]!.unread;
}
