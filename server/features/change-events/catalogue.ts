import type { ChangeEvent } from '../../kernel/change-event.ts';
import * as company from '../company/events.ts';
import * as employees from '../employees/events.ts';
import * as apiKeys from '../memberships/events.ts';
import * as projects from '../projects/events.ts';
import * as tasks from '../tasks/events.ts';
import * as taskLogs from '../tasks/task-log-events.ts';
import * as timers from '../timers/events.ts';
import * as periods from '../timesheet-periods/events.ts';

const isChangeEvent = (value: unknown): value is ChangeEvent =>
  typeof value === 'object' && value !== null && 'streamEvent' in value;

/** All change events, each declared in `events.ts` of its feature. */
export const changeEvents: readonly ChangeEvent[] = [
  tasks,
  taskLogs,
  timers,
  periods,
  projects,
  employees,
  company,
  apiKeys,
].flatMap((feature) => Object.values(feature).filter(isChangeEvent));
