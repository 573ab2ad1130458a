import type { Actor, Answer } from './actor.ts';

/* What tests of periods and their locks share: the calls. */

/** The first day of the period of most tests, a Monday. */
export const monday = '2026-03-02';

export const setPolicy = (admin: Actor, policy: object): Promise<Answer> =>
  admin.put(`/api/time-policy/${admin.companyId}/`, policy);

export const submit = (actor: Actor, employeeId = actor.employeeId, periodStart = monday): Promise<Answer> =>
  actor.post('/api/timesheet-periods/submit/', { employee_id: employeeId, period_start: periodStart });

/** Logs one's own time from one full hour of a day to another. */
export const logHours = (
  actor: Actor,
  taskId: number,
  day: string,
  from = '09',
  to = '10',
  more: object = {},
): Promise<Answer> =>
  actor.post('/tasklog/create/', {
    task_id: taskId,
    employee_id: actor.employeeId,
    start_time: `${day}T${from}:00:00Z`,
    end_time: `${day}T${to}:00:00Z`,
    ...more,
  });
