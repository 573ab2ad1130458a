import { z } from 'zod';
import { notFoundIn } from '../../errors/errors.ts';
import { rest } from '../../kernel/operation.ts';
import { member } from '../../kernel/procedures.ts';
import { recordChange } from '../../kernel/change-event.ts';
import { changeStream } from '../../kernel/change-streams.ts';
import { enqueueJob } from '../../kernel/job.ts';
import { idOf } from '../../kernel/wire/fields.ts';
import { taskLogCreated } from '../tasks/task-log-events.ts';
import { logDescription } from '../task-logs/schemas.ts';
import { lockVisibleTask } from '../tasks/queries.ts';
import { closeOverdueTimer, runsAtMostMs } from './close-timer.ts';
import { TIMER_RUNNING } from './errors.ts';
import { timerStarted, timerStopped } from './events.ts';
import { insertTimer, toTimer } from './queries.ts';
import { timerOverdue } from './jobs.ts';
import { Timer } from './schemas.ts';

export const startTimer = member
  .meta(
    rest('POST /api/tasklogs/timer/start/', {
      section: 'Additions',
      summary: 'Start one’s timer on a task',
      description:
        'Everybody has one timer. One that is left running is closed at 24 hours: then a task log of 24 hours is made whose description ends with “Closed automatically after 24 hours.”, and its owner is notified.',
      errors: [TIMER_RUNNING],
      changes: [timerStarted, timerStopped, taskLogCreated],
      example: { taskId: 12, description: 'Cutting gears' },
    }),
  )
  .input(z.object({ taskId: idOf('task'), description: logDescription }))
  .output(Timer)
  .mutation(async ({ ctx, input }) => {
    const { db, caller, services } = ctx;
    const { companyId, employeeId } = caller;
    const now = services.clock.now();
    if (!(await lockVisibleTask(db, companyId, input.taskId))) throw notFoundIn('taskId');
    // A timer that has run 24 hours is over, even if that was not recorded yet.
    await closeOverdueTimer(db, { companyId, employeeId, now });

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
