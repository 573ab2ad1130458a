import { router } from '../../kernel/trpc.ts';
import { clearNotifications } from './clear-notifications.ts';
import { countUnread } from './count-unread.ts';
import { deleteNotifications } from './delete-notifications.ts';
import { getPreferences } from './get-preferences.ts';
import { listNotifications } from './list-notifications.ts';
import { onMine } from './on-mine.ts';
import { readAllNotifications } from './read-all-notifications.ts';
import { readNotification } from './read-notification.ts';
import { updatePreferences } from './update-preferences.ts';
import { updateNotification } from './update-notification.ts';

export const notifications = router({
  list: listNotifications,
  countUnread,
  read: readNotification,
  readAll: readAllNotifications,
  update: updateNotification,
  delete: deleteNotifications,
  clear: clearNotifications,
  getPreferences,
  updatePreferences,
  onMine,
});
