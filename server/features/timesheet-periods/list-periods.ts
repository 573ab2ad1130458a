import { sql } from 'kysely';
import { z } from 'zod';
import { FORBIDDEN, NOT_FOUND, notFoundIn } from '../../errors/errors.ts';
import { rest } from '../../kernel/operation.ts';
import { member } from '../../kernel/procedures.ts';
import { cursorField, cursorNumber, nextCursor, readCursor, toCursor } from '../../kernel/wire/cursor.ts';
import { idOf } from '../../kernel/wire/fields.ts';
import { day } from '../../kernel/wire/moments.ts';
import { findEmployee } from '../employees/queries.ts';
import { selectPeriods, toPeriod, type Period } from './queries.ts';
import { periodStates, TimesheetPeriod } from './schemas.ts';

const pageSize = 50;
const position = z.tuple([day, cursorNumber]);
const cursorOf = ({ firstDay, _id }: Period): string => toCursor(firstDay, _id);

export const listPeriods = member('time')
  .meta(
    rest('GET /api/timesheet-periods/company/{company_id}/', {
      section: 'Additions',
      summary: 'Periods that were handed in',
      description: `The latest first day first, ${pageSize} at a time. Filters are combined; \`from\` and \`to\` find periods with a day in that range. Admins and team leaders see everybody’s; others see their own. A period that was never handed in is not in the list: it is open.`,
      errors: [FORBIDDEN],
      example: { status: 'submitted', from: '2026-01-01', to: '2026-12-31' },
      tool: { name: 'timesheet', include: 'periods', hides: ['status'], leavesOut: ['snapshot'] },
    }),
  )
  .input(
    z.object({
      company_id: idOf('company'),
      status: z.enum(periodStates).optional(),
      employee_id: idOf('employee').optional(),
      from: day.optional(),
      to: day.optional(),
      cursor: cursorField,
    }),
  )
  .output(
    z.object({
      results: z.array(TimesheetPeriod).meta({ description: 'The periods of this page' }),
      nextCursor,
    }),
  )
  .query(async ({ ctx, input }) => {
    const { db, caller } = ctx;
    const { companyId } = caller;
    const { status, from, to } = input;
    if (input.company_id !== companyId) throw NOT_FOUND();
    const asked = input.employee_id;
    if (asked !== undefined && !(await findEmployee(db, companyId, asked))) throw notFoundIn('employee_id');
    const seesAll = caller.isAdmin || caller.isTeamLeader;
    if (!seesAll && asked !== undefined && asked !== caller.employeeId) throw FORBIDDEN();
    const employeeId = seesAll ? asked : caller.employeeId;
    const before = readCursor(input.cursor, position);
    const rows = await selectPeriods(db, companyId)
      .$if(status !== undefined, (query) => query.where('p.state', '=', status!))
      .$if(employeeId !== undefined, (query) => query.where('p.employee_id', '=', employeeId!))
      .$if(from !== undefined, (query) => query.where('p.last_day', '>=', from!))
      .$if(to !== undefined, (query) => query.where('p.first_day', '<=', to!))
      .$if(before !== undefined, (query) =>
        query.where(sql<boolean>`(p.first_day, p.period_id) < (${before![0]}::date, ${before![1]})`),
      )
      .orderBy('p.first_day', 'desc')
      .orderBy('p.period_id', 'desc')
      .limit(pageSize + 1)
      .execute();
    const results = rows.slice(0, pageSize).map(toPeriod);
    return { results, nextCursor: rows.length > pageSize ? cursorOf(results.at(-1)!) : null };
  });
