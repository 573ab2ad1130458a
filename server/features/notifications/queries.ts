import type { z } from 'zod';
import type { ValueOrPlaceholder } from '../../../db/pipeline/compiled.ts';
import { rowLoader } from '../../../db/pipeline/loader.ts';
import type { Db } from '../../../db/open.ts';
import type { Member } from '../../kernel/context.ts';
import { FORBIDDEN, NOT_FOUND } from '../../errors/errors.ts';
import { appendEvent } from '../../kernel/append-event.ts';
import { findEmployee } from '../employees/queries.ts';
import type { Flags } from './update-flags.ts';
import { streamOf } from './notify.ts';
import type { Notification } from './schemas.ts';

/** The recipient of notifications: a person of one company. */
export type Recipient = { companyId: number; employeeId: number };

/** Allows a person's own notifications only: a colleague's are 403, those of another company 404. */
export async function requireSelf(db: Db, caller: Member, employeeId: number): Promise<Recipient> {
  if (employeeId === caller.employeeId) return { companyId: caller.companyId, employeeId };
  const colleague = await findEmployee(db, caller.companyId, employeeId);
  throw colleague ? FORBIDDEN({ detail: 'Notifications are read and changed by their recipient only.' }) : NOT_FOUND();
}

/** The notifications of one person, for further conditions; list, total and unread count all use it. */
export function ownNotifications(
  db: Db,
  { companyId, employeeId }: { [Key in keyof Recipient]: ValueOrPlaceholder<number> },
) {
  return db
    .selectFrom('notifications as n')
    .where('n.company_id', '=', companyId)
    .where('n.recipient_id', '=', employeeId);
}

type OwnNotifications = ReturnType<typeof ownNotifications>;

/** Adds the columns of a Notification. */
export function withRelatedRows(query: OwnNotifications) {
  return query
    .leftJoin('employees as a', (join) =>
      join.onRef('a.company_id', '=', 'n.company_id').onRef('a.employee_id', '=', 'n.actor_id'),
    )
    .select([
      'n.notification_id',
      'n.recipient_id',
      'n.app_type',
      'n.category',
      'n.priority',
      'n.title',
      'n.message',
      'n.link',
    ])
    .select([
      'n.actor_id',
      'a.name as actor_name',
      'n.task_id',
      'n.comment_id',
      'n.project_id',
      'n.is_mention',
      'n.is_read',
    ])
    .select(['n.is_starred', 'n.is_later', 'n.is_archived', 'n.created_at']);
}

export type NotificationRow = Awaited<ReturnType<ReturnType<typeof withRelatedRows>['executeTakeFirstOrThrow']>>;
type NotificationRecord = z.input<typeof Notification>;

export function toNotification(row: NotificationRow): NotificationRecord {
  return {
    _id: row.notification_id,
    recipient_id: row.recipient_id,
    app_type: row.app_type as NotificationRecord['app_type'],
    category: row.category as NotificationRecord['category'],
    priorty: row.priority as NotificationRecord['priorty'],
    title: row.title,
    message: row.message,
    link: row.link,
    actor: row.actor_id === null ? null : { _id: row.actor_id, name: row.actor_name! },
    taskId: row.task_id,
    commentId: row.comment_id,
    projectId: row.project_id,
    isMention: row.is_mention,
    read: row.is_read,
    starred: row.is_starred,
    later: row.is_later,
    isArchive: row.is_archived,
    createdAt: row.created_at,
  };
}

/** The notifications with these identifiers that still exist. */
export async function listByIds(db: Db, companyId: number, ids: number[]): Promise<NotificationRecord[]> {
  const rows = await withRelatedRows(db.selectFrom('notifications as n').where('n.company_id', '=', companyId))
    .where((eb) => eb('n.notification_id', '=', eb.fn.any(eb.val(ids))))
    .execute();
  return rows.map(toNotification);
}

/** The most identifiers in one event; with more, subscribers read the list again. */
const idsMax = 1_000;

export type Counters = { unread: number; total: number };

/**
 * Locks a person's counters and returns them: until the transaction ends no other changes this person's notifications.
 */
export async function lockCounters(db: Db, { companyId, employeeId }: Recipient): Promise<Counters> {
  const counts = await db
    .selectFrom('notification_counts')
    .where('company_id', '=', companyId)
    .where('employee_id', '=', employeeId)
    .select(['unread', 'total'])
    .forUpdate()
    .executeTakeFirst();
  return counts ?? { unread: 0, total: 0 };
}

export async function readCounters(db: Db, { companyId, employeeId }: Recipient): Promise<Counters> {
  return (await countsOf(db, companyId, employeeId)) ?? { unread: 0, total: 0 };
}

const countsOf = rowLoader<Counters & { company_id: number; employee_id: number }>('employee_id', (db, isAsked) =>
  db
    .selectFrom('notification_counts')
    .where(isAsked)
    .select(['company_id', 'employee_id', 'unread', 'total'])
    .compile(),
);

/**
 * Appends an event about deleted, read or changed notifications to the recipient's stream. Call {@link lockCounters}
 * first.
 */
export async function appendRecipientEvent(
  db: Db,
  recipient: Recipient,
  change: {
    ids: number[];
    now: Date;
  } & ({ type: 'notification.read' | 'notification.deleted' } | { type: 'notification.updated'; flags: Flags }),
): Promise<void> {
  const { companyId, employeeId } = recipient;
  const { unread } = await readCounters(db, recipient);
  await appendEvent(db, {
    companyId,
    stream: streamOf(employeeId),
    type: change.type,
    payload: {
      notification_ids: change.ids.length > idsMax ? null : change.ids,
      unread,
      ...('flags' in change ? change.flags : {}),
    },
    at: change.now,
  });
}
