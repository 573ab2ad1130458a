import { z } from 'zod';
import { NOT_FOUND } from '../../errors/errors.ts';
import { rest } from '../../kernel/operation.ts';
import { admin } from '../../kernel/procedures.ts';
import { done, idOf } from '../../kernel/wire/fields.ts';
import { exportColumns, noteExport } from './queries.ts';

export const deleteExport = admin('everything')
  .meta(
    rest('DELETE /api/exports/{export_id}/', {
      section: 'Additions',
      summary: 'Delete an export and its file',
      description: 'Its address stops working at once. One that is not finished is given up.',
      whileClosed: true,
    }),
  )
  .input(z.object({ export_id: idOf('export').meta({ description: 'The export' }) }))
  .output(done)
  .mutation(async ({ ctx, input }) => {
    const deleted = await ctx.db
      .deleteFrom('exports')
      .where('company_id', '=', ctx.caller.companyId)
      .where('export_id', '=', input.export_id)
      .returning(exportColumns)
      .executeTakeFirstOrThrow(() => NOT_FOUND());
    noteExport(ctx.db, 'deleted', deleted);
    return { success: true } as const;
  });
