import { z } from 'zod';
import { FORBIDDEN } from '../../errors/errors.ts';
import { rest } from '../../kernel/operation.ts';
import { member } from '../../kernel/procedures.ts';
import { idOf } from '../../kernel/wire/fields.ts';
import { checkMayWrite } from '../task-logs/writers.ts';
import { PERIOD_NOT_SUBMITTED } from './errors.ts';
import { periodReopened } from './events.ts';
import { lockPeriod } from './queries.ts';
import { reopen } from './reopen-period.ts';
import { TimesheetPeriod } from './schemas.ts';

export const withdrawPeriod = member('time')
  .meta(
    rest('POST /api/timesheet-periods/withdraw/', {
      section: 'Additions',
      summary: 'Take back a period that nobody has decided on',
      description:
        'By the employee whose time it is, a team leader or an admin. The period is open again. One that was approved is reopened by an admin.',
      errors: [FORBIDDEN, PERIOD_NOT_SUBMITTED],
      changes: [periodReopened],
      example: { period_id: 5 },
      tool: { name: 'submit_week', action: 'withdraw', leavesOut: ['snapshot'] },
    }),
  )
  .input(z.object({ period_id: idOf('period') }))
  .output(TimesheetPeriod)
  .mutation(async ({ ctx, input }) => {
    const { db, caller, services } = ctx;
    const period = await lockPeriod(db, caller.companyId, input.period_id);
    checkMayWrite(caller, period.employee_id);
    if (period.status !== 'submitted') throw PERIOD_NOT_SUBMITTED();
    return reopen(db, caller, { period, decision: null, now: services.clock.now() });
  });
