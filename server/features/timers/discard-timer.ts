import { z } from 'zod';
import { FORBIDDEN } from '../../errors/errors.ts';
import { rest } from '../../kernel/operation.ts';
import { member } from '../../kernel/procedures.ts';
import { ownId, done } from '../../kernel/wire/fields.ts';
import { getEmployee } from '../employees/queries.ts';
import { recordStopped } from './close-timer.ts';
import { TIMER_NOT_RUNNING } from './errors.ts';
import { timerStopped } from './events.ts';
import { takeTimer } from './queries.ts';

export const discardTimer = member('time')
  .meta(
    rest('DELETE /api/tasklogs/timer/{employee_id}/', {
      section: 'Additions',
      summary: 'End a timer without a log',
      description:
        'For the employee, and for admins. Nothing is logged: for a timer that was started by mistake, or that cannot be stopped because a day of it is locked.',
      errors: [FORBIDDEN, TIMER_NOT_RUNNING],
      changes: [timerStopped],
    }),
  )
  .input(z.object({ employee_id: ownId() }))
  .output(done)
  .mutation(async ({ ctx, input }) => {
    const { caller, db, services } = ctx;
    const { companyId, employeeId: actorId } = caller;
    const { employee_id: employeeId } = await getEmployee(db, companyId, input.employee_id);
    if (employeeId !== actorId && !caller.isAdmin) throw FORBIDDEN();
    const timer = await takeTimer(db, { companyId, employeeId });
    if (!timer)
      throw TIMER_NOT_RUNNING(employeeId === actorId ? {} : { detail: 'This employee has no timer running.' });
    recordStopped(db, timer, { actorId, taskLogId: null, at: services.clock.now() });
    return { success: true } as const;
  });
