import { z } from 'zod';
import { NOT_FOUND } from '../../errors/errors.ts';
import { noteChange } from '../../kernel/audit-log.ts';
import { rest } from '../../kernel/operation.ts';
import { admin } from '../../kernel/procedures.ts';
import { done, idOf } from '../../kernel/wire/fields.ts';
import { rateColumns, toRate } from './queries.ts';

export const deleteRate = admin('time')
  .meta(
    rest('DELETE /api/rates/{company_id}/{rate_id}/', {
      section: 'Additions',
      summary: 'Delete an hourly rate',
      description:
        'For admins. Stored logs keep their rates; to end a rate on a day, set one without amount from that day on.',
    }),
  )
  .input(z.object({ company_id: idOf('company'), rate_id: idOf('rate').meta({ description: 'The rate' }) }))
  .output(done)
  .mutation(async ({ ctx, input }) => {
    const { db, caller } = ctx;
    const { companyId } = caller;
    if (input.company_id !== companyId) throw NOT_FOUND();
    const row = await db
      .deleteFrom('rates')
      .where('company_id', '=', companyId)
      .where('rate_id', '=', input.rate_id)
      .returning(rateColumns)
      .executeTakeFirstOrThrow(() => NOT_FOUND());
    const before = toRate(row);
    noteChange(db, companyId, { event: 'rate.deleted', kind: 'rate', id: before._id, before, after: null });
    return { success: true } as const;
  });
