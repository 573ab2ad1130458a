import { sendCode } from '../features/auth/codes.ts';
import { reactions as ofCompanies } from '../features/company/notices.ts';
import { reactions as ofProjects } from '../features/projects/ownership.ts';
import { reactions as ofTasks } from '../features/tasks/assignment.ts';
import { reactions as ofComments } from '../features/comments/reactions.ts';
import { reactions as ofMemberships } from '../features/memberships/invitation-mail.ts';
import { reactions as ofMornings } from '../features/mornings/morning.ts';
import { reactions as ofNotices } from '../features/notices/account-notice.ts';
import { reactions as ofNotifications } from '../features/notifications/notification-mail.ts';
import { reactions as ofTaskLogs } from '../features/task-logs/reactions.ts';
import { reactions as ofTimers } from '../features/timers/reactions.ts';
import { sendResetLink } from '../features/passwords/reset-link.ts';
import type { AnyReaction } from '../kernel/reaction.ts';

/** Every reaction that a delivery may name. */
export const reactions: AnyReaction[] = [
  sendCode,
  sendResetLink,
  ...ofMemberships,
  ...ofNotices,
  ...ofMornings,
  ...ofNotifications,
  ...ofTaskLogs,
  ...ofTimers,
  ...ofTasks,
  ...ofProjects,
  ...ofCompanies,
  ...ofComments,
];
