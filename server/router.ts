import { apiKeys } from './features/api-keys/index.ts';
import { audit } from './features/audit/index.ts';
import { auth } from './features/auth/index.ts';
import { balances } from './features/balances/index.ts';
import { comments } from './features/comments/index.ts';
import { company } from './features/company/index.ts';
import { csvImports } from './features/csv-imports/index.ts';
import { employees } from './features/employees/index.ts';
import { exports } from './features/exports/index.ts';
import { holidays } from './features/holidays/index.ts';
import { invitations } from './features/invitations/index.ts';
import { notifications } from './features/notifications/index.ts';
import { oauth } from './features/oauth/index.ts';
import { passwords } from './features/passwords/index.ts';
import { projects } from './features/projects/index.ts';
import { registration } from './features/registration/index.ts';
import { search } from './features/search/index.ts';
import { sessions } from './features/sessions/index.ts';
import { statistics } from './features/statistics/index.ts';
import { taskLogs } from './features/task-logs/index.ts';
import { tasks } from './features/tasks/index.ts';
import { rates } from './features/rates/index.ts';
import { timePolicies } from './features/time-policies/index.ts';
import { timesheetPeriods } from './features/timesheet-periods/index.ts';
import { timesheets } from './features/timesheets/index.ts';
import { timers } from './features/timers/index.ts';
import { webhooks } from './features/webhooks/index.ts';
import { workingHours } from './features/working-hours/index.ts';
import { router } from './kernel/trpc.ts';

/** All operations of the service, by feature. */
export const appRouter = router({
  auth,
  registration,
  passwords,
  sessions,
  apiKeys,
  oauth,
  company,
  employees,
  invitations,
  projects,
  tasks,
  taskLogs,
  csvImports,
  timers,
  timesheets,
  timePolicies,
  rates,
  timesheetPeriods,
  workingHours,
  holidays,
  balances,
  statistics,
  comments,
  notifications,
  webhooks,
  audit,
  exports,
  search,
});

/** For typed clients. */
export type AppRouter = typeof appRouter;
