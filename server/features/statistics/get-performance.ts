import { z } from 'zod';
import { NOT_FOUND } from '../../errors/errors.ts';
import { rest } from '../../kernel/operation.ts';
import { member } from '../../kernel/procedures.ts';
import { idOf } from '../../kernel/wire/fields.ts';
import { moment } from '../../kernel/wire/moments.ts';
import { sortByName } from '../employees/sort-by-name.ts';
import { hoursOf } from '../projects/hours.ts';
import { listPerformance } from './queries.ts';

const EmployeePerformance = z
  .object({
    employee_id: idOf('employee'),
    name: z.string(),
    loggedHours: z.number().meta({ description: 'All logged time, in hours to two decimals' }),
    tasksAssigned: z.int().meta({ description: 'Tasks owned' }),
    tasksCompleted: z.int().meta({ description: 'Those of them that are done' }),
    tasksOverdue: z.int().meta({ description: 'Those of them that are not done and were due before today' }),
    onTimeRate: z.number().nullable().meta({
      description:
        'Of the tasks owned that are done and had a due date, the part that became done on that day or before, from 0 to 1; null without any',
    }),
    commentsPosted: z.int().meta({ description: 'Comments written and not deleted' }),
    lastActivityAt: moment
      .nullable()
      .meta({ description: 'Latest of: the end of a log, a comment, an own task becoming done; never in the future' }),
  })
  .meta({ id: 'EmployeePerformance' });

export const getPerformance = member('people')
  .meta(
    rest('GET /api/performance/{company_id}/', {
      section: 'Employees',
      summary: 'Performance figures of employees',
      description:
        'Admins and team leaders see every active employee, alphabetical by name as people sort; others see their own row alone. Days are those of the company’s time zone. Deleted tasks and those of deleted projects are not counted; the time logged on them is.',
      isLongRead: true,
      example: { company_id: 42 },
    }),
  )
  .input(z.object({ company_id: idOf('company') }))
  .output(z.object({ employees: z.array(EmployeePerformance) }))
  .query(async ({ ctx, input }) => {
    const { companyId, employeeId, isAdmin, isTeamLeader } = ctx.caller;
    if (input.company_id !== companyId) throw NOT_FOUND();
    const only = isAdmin || isTeamLeader ? null : employeeId;
    const now = ctx.services.clock.now();
    const rows = await listPerformance(ctx.db, companyId, { only, now });
    return {
      employees: sortByName(rows).map((row) => ({
        employee_id: row.employee_id,
        name: row.name,
        loggedHours: hoursOf(row.logged_seconds),
        tasksAssigned: row.assigned,
        tasksCompleted: row.done,
        tasksOverdue: row.overdue,
        onTimeRate:
          row.done_with_due_date === 0
            ? null
            : Math.round((row.done_on_time / row.done_with_due_date) * 10_000) / 10_000,
        commentsPosted: row.posted,
        lastActivityAt: row.last_activity_at,
      })),
    };
  });
