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
    const made = await insertInOrder(db, companyId, one, now);
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
      at: made.created_at,
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

/**
 * Writes a notification under the row lock of its recipient's counts, where it also gets its identifier and its time. So
 * identifiers, times and the numbers of the stream's events are all in the order of commits, even where the clocks of
 * nodes differ. Answers nothing where the same cause has made one before.
 */
async function insertInOrder(
  db: Db,
  companyId: number,
  one: NewNotification,
  now: Date,
): Promise<{ notification_id: number; created_at: Date } | undefined> {
  const { rows } = await sql<{ notification_id: number; created_at: Date }>`
    with counts as (
      insert into notification_counts as c (company_id, employee_id, last_created_at)
      values (${companyId}, ${one.recipientId}, ${now})
      on conflict (company_id, employee_id)
        do update set last_created_at = greatest(c.last_created_at, excluded.last_created_at)
      returning company_id, employee_id, last_created_at
    )
    insert into notifications (
      company_id, recipient_id, cause, app_type, category, priority, title, message, link, actor_id, task_id, comment_id,
      project_id, is_mention, created_at
    )
    select company_id, employee_id, ${one.cause}, ${one.appType}, ${one.category}, ${one.priority}, ${one.title},
      ${one.message}, ${one.link}, ${one.actorId}::bigint, ${one.taskId ?? null}::bigint, ${one.commentId ?? null}::bigint,
      ${one.projectId ?? null}::bigint, ${one.isMention ?? false}::boolean, last_created_at
    from counts
    on conflict (company_id, recipient_id, cause) do nothing
    returning notification_id, created_at`.execute(db);
  return rows[0];
}

/** Needs the lock that {@link insertInOrder} takes. */
async function countUnread(db: Db, companyId: number, employeeId: number): Promise<number> {
  const { rows } = await sql<{ unread: number }>`
    update notification_counts set unread = unread + 1, total = total + 1
    where company_id = ${companyId} and employee_id = ${employeeId}
    returning unread`.execute(db);
  return rows[0]!.unread;
}
