import { z } from 'zod';
import { NOT_FOUND } from '../../errors/errors.ts';
import { rest } from '../../kernel/operation.ts';
import { member } from '../../kernel/procedures.ts';
import { checkRange, rangeDaysMax } from '../../kernel/wire/day-range.ts';
import { idOf } from '../../kernel/wire/fields.ts';
import { day } from '../../kernel/wire/moments.ts';
import { listInRange } from './queries.ts';
import { Holidays } from './schemas.ts';

export const listHolidays = member('time')
  .meta(
    rest('GET /api/holidays/{company_id}/', {
      section: 'Additions',
      summary: 'The holidays of the company',
      description: `For every employee. Those from \`from\` to \`to\`, both included, at most ${rangeDaysMax} days. See [the guide](/docs/guides/time-periods).`,
      example: { from: '2026-01-01', to: '2026-12-31' },
    }),
  )
  .input(z.object({ company_id: idOf('company'), from: day, to: day }))
  .output(Holidays)
  .query(async ({ ctx, input }) => {
    const { companyId } = ctx.caller;
    const { company_id, from, to } = input;
    if (company_id !== companyId) throw NOT_FOUND();
    checkRange(from, to);
    return { from, to, holidays: await listInRange(ctx.db, companyId, { from, to }) };
  });
