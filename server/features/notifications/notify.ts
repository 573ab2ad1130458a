import { sql } from 'kysely';
import type { Db } from '../../../db/open.ts';
import { appendEvents } from '../../kernel/append-event.ts';
import type { appTypes, categories, priorities } from './kinds.ts';
import { mailNotifications } from './notification-mail.ts';

/** A notification to create, for one person. */
export type NewNotification = {
  recipientId: number;
  /** The event and the reason, such as `comment 12 mentioned`: the same cause creates one notification per person. */
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
 * Creates notifications and appends events to their recipients' streams, in the caller's transaction, with a constant
 * number of statements. A notification with the same cause is not created again, so a job may run twice. Returns those
 * without an earlier one, including those that their recipients want by mail alone.
 */
export async function notify(
  db: Db,
  companyId: number,
  notifications: NewNotification[],
  now: Date,
): Promise<NewNotification[]> {
  if (notifications.length === 0) return [];
  const preferences = await findPreferences(db, companyId, notifications);
  const preferenceOf = (one: NewNotification) =>
    preferences.get(keyOf(one.recipientId, one.category)) ?? defaultPreference;
  const byMailAlone = notifications.filter((one) => !preferenceOf(one).in_app && preferenceOf(one).email);
  const unlisted = byMailAlone.length === 0 ? [] : await insertUnlisted(db, companyId, byMailAlone);
  const shown = notifications.filter((one) => preferenceOf(one).in_app);
  const made = shown.length === 0 ? [] : await insertInOrder(db, companyId, shown, now);
  if (made.length > 0) await appendCreated(db, companyId, made);
  const news = [...unlisted, ...made];
  const mailed = news.filter((one) => preferenceOf(one).email);
  if (mailed.length > 0) await mailNotifications(db, companyId, mailed, now);
  return news;
}

/** Appends new notifications to the recipients' streams. */
async function appendCreated(db: Db, companyId: number, made: Created[]): Promise<void> {
  const perRecipient = new Map<number, number>();
  for (const { recipientId } of made) perRecipient.set(recipientId, (perRecipient.get(recipientId) ?? 0) + 1);
  const unread = await listUnread(db, companyId, [...perRecipient.keys()]);
  // Each event has the unread count that single inserts would have given.
  const before = new Map([...unread].map(([id, count]) => [id, count - perRecipient.get(id)!]));
  const events = made.map(({ recipientId, notificationId, createdAt }) => {
    const count = before.get(recipientId)! + 1;
    before.set(recipientId, count);
    return {
      stream: streamOf(recipientId),
      type: 'notification.created',
      payload: { notification_id: notificationId, unread: count },
      at: createdAt,
    };
  });
  await appendEvents(db, companyId, events);
}

const keyOf = (employeeId: number, of: string): string => `${employeeId} ${of}`;

type Preference = { in_app: boolean; email: boolean };

/** The default preference of people and companies without one. */
const defaultPreference: Preference = { in_app: true, email: false };

/** The preferences of recipients that differ from the default: their own, or else their company's. */
async function findPreferences(
  db: Db,
  companyId: number,
  notifications: NewNotification[],
): Promise<Map<string, Preference>> {
  const { rows } = await sql<Preference & { employee_id: number; category: string }>`
    select w.employee_id, w.category, coalesce(p.in_app, s.in_app, true) as in_app, coalesce(p.email, s.email, false) as email
    from unnest(
      ${notifications.map((one) => one.recipientId)}::bigint[],
      ${notifications.map((one) => one.category)}::text[]
    ) as w (employee_id, category)
    left join notification_preferences p
      on p.company_id = ${companyId} and p.employee_id = w.employee_id and p.category = w.category
    left join notification_setups s on s.company_id = ${companyId} and s.category = w.category
    where not coalesce(p.in_app, s.in_app, true) or coalesce(p.email, s.email, false)`.execute(db);
  return new Map(rows.map((row) => [keyOf(row.employee_id, row.category), row]));
}

type Created = NewNotification & { notificationId: number; createdAt: Date };

/**
 * Inserts notifications under the row locks of their recipients' counts, taken in the order of recipients. Identifiers
 * and times are assigned under these locks, so they and the sequence numbers of events are all in the order of commits,
 * even if the clocks of nodes differ. Returns those whose cause is new, by identifier.
 */
async function insertInOrder(db: Db, companyId: number, all: NewNotification[], now: Date): Promise<Created[]> {
  const { rows } = await sql<{ position: number; notification_id: number; created_at: Date }>`
    with given as materialized (
      select * from unnest(
        ${all.map((one) => one.recipientId)}::bigint[], ${all.map((one) => one.cause)}::text[],
        ${all.map((one) => one.appType)}::text[], ${all.map((one) => one.category)}::text[],
        ${all.map((one) => one.priority)}::text[], ${all.map((one) => one.title)}::text[],
        ${all.map((one) => one.message)}::text[], ${all.map((one) => one.link)}::text[],
        ${all.map((one) => one.actorId)}::bigint[], ${all.map((one) => one.taskId ?? null)}::bigint[],
        ${all.map((one) => one.commentId ?? null)}::bigint[], ${all.map((one) => one.projectId ?? null)}::bigint[],
        ${all.map((one) => one.isMention ?? false)}::boolean[]
      ) with ordinality as g (
        recipient_id, cause, app_type, category, priority, title, message, link, actor_id, task_id, comment_id, project_id,
        is_mention, position
      )
    ), counts as (
      insert into notification_counts as c (company_id, employee_id, last_created_at)
      select ${companyId}::bigint, recipient_id, ${now}::timestamptz from given group by recipient_id order by recipient_id
      on conflict (company_id, employee_id)
        do update set last_created_at = greatest(c.last_created_at, excluded.last_created_at)
      returning employee_id, last_created_at
    ), made as (
      insert into notifications (
        company_id, recipient_id, cause, app_type, category, priority, title, message, link, actor_id, task_id, comment_id,
        project_id, is_mention, created_at
      )
      select ${companyId}::bigint, recipient_id, cause, app_type, category, priority, title, message, link, actor_id, task_id,
        comment_id, project_id, is_mention, last_created_at
      from given join counts on employee_id = recipient_id
      where not exists (
        select from unlisted_notifications as u
        where u.company_id = ${companyId}::bigint and u.employee_id = recipient_id and u.cause = given.cause
      )
      order by recipient_id, position
      on conflict (company_id, recipient_id, cause) do nothing
      returning notification_id, recipient_id, cause, created_at
    )
    select min(position)::integer as position, notification_id, created_at
    from made join given using (recipient_id, cause)
    group by notification_id, created_at order by notification_id`.execute(db);
  return rows.map((row) => ({
    ...all[row.position - 1]!,
    notificationId: row.notification_id,
    createdAt: row.created_at,
  }));
}

/** Stores the causes of notifications that are only mailed. Returns those whose cause is new. */
async function insertUnlisted(db: Db, companyId: number, all: NewNotification[]): Promise<NewNotification[]> {
  const { rows } = await sql<{ employee_id: number; cause: string }>`
    insert into unlisted_notifications (company_id, employee_id, cause)
    select ${companyId}::bigint, employee_id, cause
    from unnest(
      ${all.map((one) => one.recipientId)}::bigint[], ${all.map((one) => one.cause)}::text[]
    ) as g (employee_id, cause)
    -- A person may have had it in the app before.
    where not exists (
      select from notifications as n
      where n.company_id = ${companyId} and n.recipient_id = g.employee_id and n.cause = g.cause
    )
    order by employee_id, cause
    on conflict do nothing
    returning employee_id, cause`.execute(db);
  const unused = new Set(rows.map((row) => keyOf(row.employee_id, row.cause)));
  return all.filter((one) => unused.delete(keyOf(one.recipientId, one.cause)));
}

/** The current unread counts, by recipient. */
async function listUnread(db: Db, companyId: number, recipientIds: number[]): Promise<Map<number, number>> {
  const rows = await db
    .selectFrom('notification_counts')
    .where('company_id', '=', companyId)
    .where((eb) => eb('employee_id', '=', eb.fn.any(eb.val(recipientIds))))
    .select(['employee_id', 'unread'])
    .execute();
  return new Map(rows.map((row) => [row.employee_id, row.unread]));
}
