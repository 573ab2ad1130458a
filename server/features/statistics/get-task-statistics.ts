import { z } from 'zod';
import { NOT_FOUND } from '../../errors/errors.ts';
import { rest } from '../../kernel/operation.ts';
import { member } from '../../kernel/procedures.ts';
import { idOf } from '../../kernel/wire/fields.ts';
import { hoursOf } from '../projects/hours.ts';
import { findStatistics } from './queries.ts';

const count = (description: string) => z.int().meta({ description });
const ofStatus = count('Tasks with this status');
const hours = z.number().meta({ description: 'Hours to two decimals, rounded once from all seconds' });

export const getTaskStatistics = member('company')
  .meta(
    rest('GET /task-statistics/{company_id}/', {
      section: 'Company',
      summary: 'Figures of the company: projects, tasks, hours and employees',
      description:
        'Days, weeks (from Monday) and months are those of the company’s time zone. Deleted projects and tasks, and tasks of deleted projects, are left out; the time logged on them stays in `hours`, which are the sums of the logs by their days, of everybody who ever worked here. `overdue` are tasks that are not done and were due before today; `completedThisWeek` are done and became so this week. Deleted employees are left out of `employees.total`, inactive ones of `employees.active`.',
      isLongRead: true,
      example: { company_id: 42 },
    }),
  )
  .input(z.object({ company_id: idOf('company') }))
  .output(
    z.object({
      projects: z
        .object({ total: count('All projects'), active: count('Those with the status `active`') })
        .meta({ description: 'The projects' }),
      tasks: z
        .object({
          total: count('All tasks'),
          byStatus: z
            .object({ todo: ofStatus, in_progress: ofStatus, in_review: ofStatus, done: ofStatus })
            .meta({ description: 'The tasks by their status' }),
          overdue: count('Those that are not done and were due before today'),
          completedThisWeek: count('Those that are done and became so this week'),
        })
        .meta({ description: 'The tasks' }),
      hours: z
        .object({ today: hours, thisWeek: hours, thisMonth: hours, total: hours })
        .meta({ description: 'The logged time, by the days on which it was worked' }),
      employees: z.object({ total: count('All who are not deleted'), active: count('Those who are active') }),
    }),
  )
  .query(async ({ ctx, input }) => {
    const { companyId } = ctx.caller;
    if (input.company_id !== companyId) throw NOT_FOUND();
    const row = await findStatistics(ctx.db, companyId, ctx.services.clock.now());
    const { todo, in_progress, in_review, done } = row;
    return {
      projects: { total: row.projects, active: row.projects_active },
      tasks: {
        total: todo + in_progress + in_review + done,
        byStatus: { todo, in_progress, in_review, done },
        overdue: row.overdue,
        completedThisWeek: row.completed_this_week,
      },
      hours: {
        today: hoursOf(row.seconds_today),
        thisWeek: hoursOf(row.seconds_this_week),
        thisMonth: hoursOf(row.seconds_this_month),
        total: hoursOf(row.seconds_total),
      },
      employees: { total: row.employees, active: row.employees_active },
    };
  });
