import { z } from 'zod';
import { PERIOD_LOCKED } from '../../errors/errors.ts';
import { rest } from '../../kernel/operation.ts';
import { member } from '../../kernel/procedures.ts';
import { stamps } from '../../kernel/tool.ts';
import { taskLogCreated } from '../tasks/task-log-events.ts';
import { toChargedTaskLog } from '../task-logs/queries.ts';
import { logDescription } from '../task-logs/schemas.ts';
import { ChargedTaskLog } from '../tasks/task-log.ts';
import { closeTimer } from './close-timer.ts';
import { TIMER_NOT_RUNNING } from './errors.ts';
import { timerStopped } from './events.ts';
import { takeTimer } from './queries.ts';

export const stopTimer = member('time')
  .meta(
    rest('POST /api/tasklogs/timer/stop/', {
      section: 'Additions',
      summary: 'Stop one’s timer',
      description:
        'Makes a task log of it, with `manualAdd: false`: at least a second long and at most 24 hours, at whose end a timer is closed, whenever it is stopped; the description then ends with “Closed automatically after 24 hours.” `description` takes the place of the one that the timer was started with. The time is kept also where the task was deleted. Where a day of it is locked, the timer goes on (409 `PERIOD_LOCKED`); it can be discarded.',
      errors: [TIMER_NOT_RUNNING, PERIOD_LOCKED],
      changes: [timerStopped, taskLogCreated],
      example: { description: 'Cut four gears' },
      tool: { name: 'timer', action: 'stop', leavesOut: ['charge', ...stamps] },
    }),
  )
  .input(z.object({ description: logDescription }))
  .output(ChargedTaskLog)
  .mutation(async ({ ctx, input }) => {
    const { db, caller, services } = ctx;
    const timer = await takeTimer(db, caller);
    if (!timer) throw TIMER_NOT_RUNNING();
    const { description = timer.description } = input;
    const log = await closeTimer(db, { ...timer, description }, services.clock.now());
    ctx.afterCommit(services.wakeWorker);
    return toChargedTaskLog(log, caller);
  });
