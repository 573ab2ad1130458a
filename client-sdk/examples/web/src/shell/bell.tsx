import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Notification } from 'work-management-client';
import { Icon, type IconName } from '../icon.tsx';
import { attempt } from '../notices.ts';
import { Ago, Loading } from '../parts.tsx';
import { periodHref, taskHref } from '../route.ts';
import { hasMore, loadMore, markAllRead, markRead, notifications, unread } from './notifications.ts';
import { usePopover } from './popover.ts';

/** The bell: how many notifications are unread, and the list of them. */
export function Bell(): JSX.Element {
  const { isOpen, setOpen, box, button } = usePopover();
  const count = unread.value;
  return (
    <div class="popover-place" ref={box}>
      <button
        type="button"
        ref={button}
        class="icon-button bell"
        aria-expanded={isOpen}
        aria-controls="notifications"
        aria-label={`Notifications, ${count} unread`}
        onClick={() => setOpen(!isOpen)}
      >
        <Icon name="bell" />
        {count > 0 && (
          <span class="badge" aria-hidden="true">
            {count > 99 ? '99+' : count}
          </span>
        )}
      </button>
      {isOpen && <Panel close={() => setOpen(false)} />}
    </div>
  );
}

function Panel({ close }: { close(): void }): JSX.Element {
  const heading = useRef<HTMLHeadingElement>(null);
  const [isBusy, setBusy] = useState(false);
  useEffect(() => heading.current?.focus(), []);
  const list = notifications.value;

  async function more(): Promise<void> {
    setBusy(true);
    await attempt(loadMore);
    setBusy(false);
  }

  return (
    <section class="popover notifications" id="notifications" aria-labelledby="notifications-heading">
      <header>
        <h2 id="notifications-heading" tabIndex={-1} ref={heading}>
          Notifications
        </h2>
        <button
          type="button"
          class="button ghost small"
          aria-disabled={unread.value === 0}
          onClick={() => void (unread.value > 0 && attempt(markAllRead))}
        >
          Mark all as read
        </button>
      </header>
      {!list && <Loading label="Reading your notifications" />}
      {list?.length === 0 && <p class="quiet">Nothing yet. You are told here when somebody answers or mentions you.</p>}
      {list && list.length > 0 && (
        <ul>
          {list.map((notification) => (
            <Row key={notification._id} notification={notification} close={close} />
          ))}
        </ul>
      )}
      {hasMore.value && (
        <button type="button" class="button ghost wide" aria-disabled={isBusy} onClick={() => void more()}>
          {isBusy ? 'Reading…' : 'Show earlier ones'}
        </button>
      )}
    </section>
  );
}

function iconOf({ isMention, category }: Notification): IconName {
  if (isMention) return 'at';
  return category === 'need_attention' ? 'warning' : category === 'message' ? 'reply' : 'bell';
}

function hrefOf({ taskId, commentId, projectId, link }: Notification): string {
  if (taskId !== null) return taskHref(taskId, commentId);
  if (projectId !== null) return `#/projects/${projectId}`;
  return periodHref(link) ?? '#/tasks';
}

function Row({ notification, close }: { notification: Notification; close(): void }): JSX.Element {
  const { read, title, message, createdAt } = notification;
  const link = useRef<HTMLAnchorElement>(null);
  return (
    <li class={read ? 'notification' : 'notification unread'}>
      <span class="notification-sign" aria-hidden="true">
        <Icon name={iconOf(notification)} />
      </span>
      <a
        ref={link}
        href={hrefOf(notification)}
        onClick={() => {
          void attempt(async () => markRead(notification));
          close();
        }}
      >
        {!read && <span class="visually-hidden">Unread: </span>}
        <strong>{title}</strong>
        <span class="notification-text">{message}</span>
        <Ago at={createdAt} />
      </a>
      {!read && (
        <button
          type="button"
          class="icon-button small"
          aria-label={`Mark as read: ${title}`}
          onClick={() => {
            // The button is about to go, and the focus with it.
            link.current?.focus();
            void attempt(async () => markRead(notification));
          }}
        >
          <Icon name="done" />
        </button>
      )}
    </li>
  );
}
