import { z } from 'zod';
import { listLockedDays } from '../../../db/derived/period-locks.ts';
import { lockDays } from '../../../db/derived/work-time.ts';
import { inOrder } from '../../../db/pipeline/in-order.ts';
import {
  COMPANY_CLOSED,
  INVALID_TOKEN,
  notFoundIn,
  PERIOD_LOCKED,
  periodLocked,
  SESSION_ENDED,
} from '../../errors/errors.ts';
import { rest } from '../../kernel/operation.ts';
import { member } from '../../kernel/procedures.ts';
import { recordChange } from '../../kernel/change-event.ts';
import { changeStream } from '../../kernel/change-streams.ts';
import { enqueueJob } from '../../kernel/job.ts';
import { idOf } from '../../kernel/wire/fields.ts';
import { getCompany } from '../company/queries.ts';
import { lockActiveEmployee } from '../employees/active-employees.ts';
import { taskLogCreated } from '../tasks/task-log-events.ts';
import { logDescription } from '../task-logs/schemas.ts';
import { lockVisibleTask } from '../tasks/queries.ts';
import { endOverdueTimer, runsAtMostMs } from './close-timer.ts';
import { TIMER_RUNNING } from './errors.ts';
import { timerStarted, timerStopped } from './events.ts';
import { insertTimer, lockTimer, toTimer } from './queries.ts';
import { timerOverdue } from './jobs.ts';
import { Timer } from './schemas.ts';

export const startTimer = member('time')
  .meta(
    rest('POST /api/tasklogs/timer/start/', {
      section: 'Additions',
      summary: 'Start one’s timer on a task',
      description:
        'Everybody has one timer. One that is left running is closed at 24 hours: then a task log of 24 hours is made whose description ends with “Closed automatically after 24 hours.”, and its owner is notified. None starts on a locked day (409 `PERIOD_LOCKED`). A timer that the service ends on a locked day has no log, and its owner is notified of that.',
      errors: [TIMER_RUNNING, PERIOD_LOCKED],
      changes: [timerStarted, timerStopped, taskLogCreated],
      example: { taskId: 12, description: 'Cutting gears' },
      tool: { name: 'timer', action: 'start' },
    }),
  )
  .input(z.object({ taskId: idOf('task'), description: logDescription }))
  .output(Timer)
  .mutation(async ({ ctx, input }) => {
    const { db, caller, services } = ctx;
    const { companyId, employeeId } = caller;
    const now = services.clock.now();
    // Nothing would stop a timer that starts after its employee has left: the first to lock the employee wins.
    const [task, isActive] = await inOrder(db, [
      () => lockVisibleTask(db, companyId, input.taskId),
      () => lockActiveEmployee(db, companyId, employeeId),
      // Who stops a timer locks it before the days.
      () => lockTimer(db, companyId, employeeId),
    ]);
    if (!isActive) throw caller.credential.kind === 'apiKey' ? INVALID_TOKEN() : SESSION_ENDED();
    if (!task) throw notFoundIn('taskId');
    // A timer that has run 24 hours is over, even if that was not recorded yet.
    await endOverdueTimer(db, { companyId, employeeId, now, settings: services.settings });
    // No timer starts in a period that is handed in, or in a company that is closed: the first to lock the days wins.
    await lockDays(db, companyId, [employeeId]);
    const end = new Date(now.getTime() + 1);
    const [locked, { closes_at: closesAt }] = await inOrder(db, [
      () => listLockedDays(db, { companyId, employeeId, start: now, end }),
      () => getCompany(db, companyId),
    ]);
    if (closesAt !== null) throw COMPANY_CLOSED();
    if (locked.length > 0) throw periodLocked(locked);

    const timer = {
      company_id: companyId,
      employee_id: employeeId,
      task_id: input.taskId,
      start_time: now,
      description: input.description ?? null,
    };
    if (!(await insertTimer(db, timer))) throw TIMER_RUNNING();
    await enqueueJob(db, timerOverdue, {
      dedupeKey: `${companyId} ${employeeId} ${now.toISOString()}`,
      payload: { companyId, employeeId },
      now,
      dueAt: new Date(now.getTime() + runsAtMostMs),
    });
    recordChange(db, timerStarted, {
      companyId,
      streams: [changeStream.timers(employeeId)],
      payload: { actorId: employeeId, timer: toTimer(timer) },
      at: now,
    });
    return toTimer(timer);
  });
