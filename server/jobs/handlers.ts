import { handlers as ofExpiringKeys } from '../features/mornings/expiring-keys.ts';
import { sendOtp } from '../features/auth/codes.ts';
import { handlers as ofCompanies } from '../features/company/notices.ts';
import { handlers as ofExports } from '../features/exports/make-export.ts';
import { handlers as ofProjects } from '../features/projects/ownership.ts';
import { handlers as ofTasks } from '../features/tasks/assignment.ts';
import { handlers as ofErasure } from '../features/erasure/erase-traces.ts';
import { handlers as ofComments } from '../features/comments/jobs.ts';
import { handlers as ofMemberships } from '../features/memberships/invitation-mail.ts';
import { handlers as ofImports } from '../features/csv-imports/jobs.ts';
import { handlers as ofMornings } from '../features/mornings/morning.ts';
import { handlers as ofNotices } from '../features/notices/account-notice.ts';
import { handlers as ofNotifications } from '../features/notifications/notification-mail.ts';
import { handlers as ofTaskLogs } from '../features/task-logs/jobs.ts';
import { handlers as ofPeriods } from '../features/timesheet-periods/jobs.ts';
import { handlers as ofTimers } from '../features/timers/jobs.ts';
import { handlers as ofWebhooks } from '../features/webhooks/disable-webhook.ts';
import { sendResetLink } from '../features/passwords/reset-link.ts';
import type { AnyJobHandler } from '../kernel/job.ts';

/** All job handlers. */
export const handlers: AnyJobHandler[] = [
  sendOtp,
  sendResetLink,
  ...ofMemberships,
  ...ofNotices,
  ...ofExpiringKeys,
  ...ofMornings,
  ...ofNotifications,
  ...ofTaskLogs,
  ...ofTimers,
  ...ofPeriods,
  ...ofTasks,
  ...ofImports,
  ...ofProjects,
  ...ofCompanies,
  ...ofComments,
  ...ofErasure,
  ...ofWebhooks,
  ...ofExports,
];
