import { sql } from 'kysely';
import { z } from 'zod';
import { NOT_FOUND, validationFailed } from '../../errors/errors.ts';
import type { Issue } from '../../errors/issues.ts';
import { noteChange } from '../../kernel/audit-log.ts';
import { rest } from '../../kernel/operation.ts';
import { admin } from '../../kernel/procedures.ts';
import { checkRange, rangeDaysMax } from '../../kernel/wire/day-range.ts';
import { idOf, text } from '../../kernel/wire/fields.ts';
import { day } from '../../kernel/wire/moments.ts';
import { lockCompany } from '../company/queries.ts';
import { listInRange, type Holiday, type Range } from './queries.ts';
import { holidayDate, holidayName, Holidays } from './schemas.ts';

export const replaceHolidays = admin('time')
  .meta(
    rest('PUT /api/holidays/{company_id}/', {
      section: 'Additions',
      summary: 'Replace the holidays of a range of days',
      description: `For admins. From \`from\` to \`to\`, both included, at most ${rangeDaysMax} days, the company has exactly the holidays of the list afterwards; others stay. An empty list deletes those of the range. No work is expected on a holiday, of anybody. Balances follow at once; periods that were handed in keep what was expected then.`,
      example: {
        from: '2026-03-01',
        to: '2026-03-31',
        holidays: [{ date: '2026-03-17', name: 'Saint Patrick’s Day' }],
      },
    }),
  )
  .input(
    z.object({
      company_id: idOf('company'),
      from: day,
      to: day,
      holidays: z
        .array(
          z.object({
            date: holidayDate,
            name: text({ max: 100 }).meta(holidayName),
          }),
        )
        .max(rangeDaysMax, `must have at most ${rangeDaysMax} holidays`)
        .meta({ description: 'All holidays of the range, each day once, in any order' }),
    }),
  )
  .output(Holidays)
  .mutation(async ({ ctx, input }) => {
    const { db, caller } = ctx;
    const { companyId } = caller;
    const { company_id, from, to, holidays } = input;
    if (company_id !== companyId) throw NOT_FOUND();
    checkRange(from, to);
    checkDates(holidays, { from, to });
    // Two lists for the same days come one after the other, so that neither adds to the other.
    await lockCompany(db, companyId);
    const before = await listInRange(db, companyId, { from, to });
    const days = holidays.map(({ date }) => date);
    const names = holidays.map(({ name }) => name);
    await db
      .deleteFrom('holidays')
      .where('company_id', '=', companyId)
      .where('day', '>=', from)
      .where('day', '<=', to)
      .execute();
    await sql`
      insert into holidays (company_id, day, name)
      select ${companyId}, day, name from unnest(${days}::date[], ${names}::text[]) as given (day, name)`.execute(db);
    const after = await listInRange(db, companyId, { from, to });
    const changed = { before: missingIn(after, before), after: missingIn(before, after) };
    if (changed.before.length + changed.after.length > 0)
      noteChange(db, companyId, {
        event: 'holidays.replaced',
        kind: 'company',
        id: companyId,
        before: { holidays: changed.before },
        after: { holidays: changed.after },
      });
    return { from, to, holidays: after };
  });

function checkDates(holidays: readonly Holiday[], { from, to }: Range): void {
  const seen = new Set<string>();
  const issues = holidays.flatMap(({ date }, index): Issue[] => {
    const path = ['holidays', index, 'date'];
    if (date < from || date > to) return [{ path, message: 'must be in the range', code: 'out_of_range' }];
    if (seen.has(date)) return [{ path, message: 'is in the list already', code: 'duplicate' }];
    seen.add(date);
    return [];
  });
  if (issues.length > 0) throw validationFailed(issues);
}

/** The holidays of the second list that the first does not have, or has with another name. */
function missingIn(list: readonly Holiday[], others: readonly Holiday[]): Holiday[] {
  const names = new Map(list.map(({ date, name }) => [date, name]));
  return others.filter(({ date, name }) => names.get(date) !== name);
}
