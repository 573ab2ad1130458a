import { sql } from 'kysely';
import { z } from 'zod';
import type { Db } from '../../../db/open.ts';
import { FORBIDDEN } from '../../errors/errors.ts';
import { rest } from '../../kernel/operation.ts';
import { member } from '../../kernel/procedures.ts';
import { checkRange, rangeDaysMax } from '../../kernel/wire/day-range.ts';
import { idOf, ownId } from '../../kernel/wire/fields.ts';
import { day } from '../../kernel/wire/moments.ts';
import { checkMayRead, expectedDaysOf, type EmployeeRange } from '../working-hours/queries.ts';

const seconds = {
  expectedSeconds: z.int().meta({ description: 'The work that is expected', examples: [28_800] }),
  workingSeconds: z.int().meta({ description: 'The time worked: no minute counts twice', examples: [27_000] }),
  differenceSeconds: z.int().meta({
    description: '`workingSeconds` minus `expectedSeconds`: negative where time is missing',
    examples: [-1800],
  }),
};

export const getBalance = member('time')
  .meta(
    rest('GET /api/balances/{employee_id}/', {
      section: 'Additions',
      summary: 'Expected and worked time of an employee, by day',
      description: `For the employee, team leaders and admins. All days from \`from\` to \`to\`, both included, at most ${rangeDaysMax}, in the time zone of the company. What is expected on a day is what the employee’s working hours say, or without them the time policy; nothing on a holiday, and nothing before the \`date_of_joining\` of the employee. Days to come count as the others. See [the guide](/docs/guides/time-periods).`,
      errors: [FORBIDDEN],
      example: { from: '2026-03-01', to: '2026-03-31' },
      tool: { name: 'timesheet', include: 'balance', leavesOut: ['days'] },
    }),
  )
  .input(z.object({ employee_id: ownId(), from: day, to: day }))
  .output(
    z.object({
      employee_id: idOf('employee'),
      from: day,
      to: day,
      ...seconds,
      days: z
        .array(
          z.object({
            date: z.string().meta({ description: 'The day', format: 'date', examples: ['2026-03-02'] }),
            ...seconds,
            holiday: z
              .string()
              .nullable()
              .meta({ description: 'Name of the holiday; null on other days', examples: [null] }),
          }),
        )
        .meta({ description: 'Every day of the range; their sums are above' }),
    }),
  )
  .query(async ({ ctx, input }) => {
    const { db, caller } = ctx;
    const { employee_id, from, to } = input;
    checkRange(from, to);
    await checkMayRead(db, caller, employee_id);
    const rows = await listDays(db, { companyId: caller.companyId, employeeId: employee_id, from, to });
    const days = rows.map(({ date, expected, worked, holiday }) => ({ date, ...balanceOf(expected, worked), holiday }));
    const [expected, worked] = [sumOf(rows, 'expected'), sumOf(rows, 'worked')];
    return { employee_id, from, to, ...balanceOf(expected, worked), days };
  });

type Day = { date: string; expected: number; worked: number; holiday: string | null };

async function listDays(db: Db, asked: EmployeeRange): Promise<Day[]> {
  const { rows } = await sql<Day>`
    select e.day as date, e.minutes * 60 as expected, coalesce(w.working_seconds, 0) as worked, e.holiday
    from ${expectedDaysOf(asked)} as e
    left join work_days as w on w.company_id = ${asked.companyId} and w.employee_id = ${asked.employeeId} and w.day = e.day
      and w.day between ${asked.from}::date and ${asked.to}::date
    order by e.day`.execute(db);
  return rows;
}

const balanceOf = (expected: number, worked: number) => ({
  expectedSeconds: expected,
  workingSeconds: worked,
  differenceSeconds: worked - expected,
});

const sumOf = (rows: readonly Day[], column: 'expected' | 'worked'): number =>
  rows.reduce((total, row) => total + row[column], 0);
