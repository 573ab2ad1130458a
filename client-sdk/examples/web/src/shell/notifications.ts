import { effect, signal } from '@preact/signals';
import {
  isApiError,
  type Notification,
  type NotificationsOnMineEvent,
  type StreamStatus,
} from 'work-management-client';
import { client, getMe, me, session } from '../client.ts';
import { link, transport, write } from '../network.ts';
import { announce, attempt } from '../notices.ts';

/* One's own notifications, up to date as long as somebody is signed in. */

export const unread = signal(0);
export const notifications = signal<Notification[] | null>(null);
export const hasMore = signal(false);

let page = 1;
const sessionKey = (): string | null => (me.value ? (session.value?.id ?? null) : null);
let followed: string | null = null;
let leaving = new AbortController();

effect(() => {
  const key = sessionKey();
  if (key === followed) return;
  followed = key;
  leaving.abort();
  leaving = new AbortController();
  unread.value = 0;
  notifications.value = null;
  link.value = 'connecting';
  if (key !== null) void follow(leaving.signal);
});

async function follow(signal: AbortSignal): Promise<void> {
  let isRead = false;
  const onStatus = (status: StreamStatus, by: 'websocket' | 'sse'): void => {
    if (signal.aborted) return;
    transport.value = by;
    link.value = status;
    if (status !== 'live' || isRead) return;
    isRead = true;
    void attempt(async () => load(signal));
  };
  try {
    for await (const event of client.notifications.onMine({}, { signal, onStatus })) await take(event, signal);
  } catch (error) {
    // What else may end it ends the session as well.
    if (!isApiError(error)) throw error;
  }
}

async function load(signal?: AbortSignal): Promise<void> {
  const recipient_id = getMe()._id;
  const [first, count] = await Promise.all([
    client.notifications.list({ recipient_id }, { signal }),
    client.notifications.countUnread({ user_id: recipient_id }, { signal }),
  ]);
  page = 1;
  hasMore.value = first.totalPages > 1;
  notifications.value = first.results;
  unread.value = count.unread;
}

export async function loadMore(): Promise<void> {
  const next = await client.notifications.list({ recipient_id: getMe()._id, page: page + 1 });
  page = next.page;
  hasMore.value = next.page < next.totalPages;
  const known = notifications.value ?? [];
  // New notifications have pushed some onto the next page.
  notifications.value = [...known, ...next.results.filter(({ _id }) => known.every((one) => one._id !== _id))];
}

async function take(event: NotificationsOnMineEvent, signal: AbortSignal): Promise<void> {
  const known = notifications.value ?? [];
  switch (event.type) {
    case 'notification.created': {
      unread.value = event.unread;
      const { notification } = event;
      if (!notification) return;
      notifications.value = [notification, ...known.filter(({ _id }) => _id !== notification._id)];
      announce(`New notification: ${notification.title}`);
      return;
    }
    case 'notification.read': {
      unread.value = event.unread;
      const { notificationIds: ids, read } = event;
      if (ids === null) return void (await attempt(async () => load(signal)));
      notifications.value = known.map((one) => (ids.includes(one._id) ? { ...one, read } : one));
      return;
    }
    case 'notification.updated': {
      const { notificationId, read, starred, later, isArchive } = event;
      unread.value = event.unread;
      notifications.value = known.map((one) =>
        one._id === notificationId ? { ...one, read, starred, later, isArchive } : one,
      );
      return;
    }
    case 'notification.deleted':
      unread.value = event.unread;
      if (event.notificationIds === null) return void (await attempt(async () => load(signal)));
      notifications.value = known.filter(({ _id }) => event.notificationIds?.includes(_id) !== true);
      return;
    case 'stream.reset':
      await attempt(async () => load(signal));
  }
}

export async function markRead(notification: Notification): Promise<void> {
  if (!notification.read) await write(() => client.notifications.read({ notification_id: notification._id }));
}

export async function markAllRead(): Promise<void> {
  await write(() => client.notifications.readAll({ user_id: getMe()._id }));
}
