import { z } from 'zod';
import { eventFields, StreamOpened, StreamReset, type StoredEvent, type StreamKind } from '../../kernel/streams.ts';
import { id } from '../../kernel/wire/fields.ts';
import { streamName } from './notify.ts';
import { listByIds } from './queries.ts';
import { Notification } from './schemas.ts';

const unread = z.int().nonnegative().meta({ description: 'How many are unread after this' });
const notificationIds = z
  .array(id)
  .nullable()
  .meta({ description: 'Which; null where they are more than 1,000: read the list again' });

/** The events of a person's notifications. */
export const NotificationEvent = z.discriminatedUnion('type', [
  z
    .object({
      ...eventFields('notification.created'),
      unread,
      notificationId: id,
      notification: Notification.nullable().meta({
        description: 'As it stands when this is sent, which may be later; null where it is gone',
      }),
    })
    .meta({ id: 'notification.created', description: 'There is a new one.' }),
  z
    .object({
      ...eventFields('notification.read'),
      unread,
      notificationIds,
      read: z
        .boolean()
        .meta({ description: 'true; false in events of older versions, for those marked as unread again' }),
    })
    .meta({ id: 'notification.read', description: 'Some were marked as read.' }),
  z
    .object({
      ...eventFields('notification.updated'),
      unread,
      notificationId: id,
      read: z.boolean(),
      starred: z.boolean(),
      later: z.boolean(),
      isArchive: z.boolean(),
    })
    .meta({
      id: 'notification.updated',
      description: 'Flags of one were changed, `read` included: all four as they are after this.',
    }),
  z
    .object({ ...eventFields('notification.deleted'), unread, notificationIds })
    .meta({ id: 'notification.deleted', description: 'Some were deleted.' }),
  StreamReset,
  StreamOpened,
]);

const Created = z.object({ notification_id: id, unread: z.int() });
const Updated = z.object({
  notification_ids: z.tuple([id]),
  unread: z.int(),
  is_read: z.boolean(),
  is_starred: z.boolean(),
  is_later: z.boolean(),
  is_archived: z.boolean(),
});
const Changed = z.object({
  notification_ids: z.array(id).nullable(),
  unread: z.int(),
  read: z.boolean().default(true),
});

/** The stream of a person's notifications, for that person only. */
export const recipientStream: StreamKind<z.infer<typeof NotificationEvent>> = {
  name: streamName,
  event: NotificationEvent,

  async toEvents({ db }, companyId, stored) {
    const created = stored.filter(({ type }) => type === 'notification.created');
    const ids = created.map(({ payload }) => Created.parse(payload).notification_id);
    const records = ids.length === 0 ? [] : await listByIds(db, companyId, ids);
    const notifications = new Map(records.map((record) => [record._id, record]));
    return stored.map((event) => toEvent(event, notifications));
  },
};

function toEvent({ sequence, type, at, payload }: StoredEvent, notifications: ReadonlyMap<number, unknown>) {
  const head = { id: sequence, type, at };
  if (type === 'notification.created') {
    const { notification_id: notificationId, unread } = Created.parse(payload);
    return { ...head, unread, notificationId, notification: notifications.get(notificationId) ?? null };
  }
  if (type === 'notification.updated') {
    const { notification_ids: ids, unread, ...flags } = Updated.parse(payload);
    const { is_read: read, is_starred: starred, is_later: later, is_archived: isArchive } = flags;
    return { ...head, unread, notificationId: ids[0], read, starred, later, isArchive };
  }
  const { notification_ids: notificationIds, unread, read } = Changed.parse(payload);
  return { ...head, unread, notificationIds, read };
}
