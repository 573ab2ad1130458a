import { z } from 'zod';
import { NOT_FOUND } from '../../errors/errors.ts';
import { rest } from '../../kernel/operation.ts';
import { admin } from '../../kernel/procedures.ts';
import { idOf } from '../../kernel/wire/fields.ts';
import { exportColumns, selectExports, toExport } from './queries.ts';
import { Export } from './schemas.ts';

export const getExport = admin('everything')
  .meta(
    rest('GET /api/exports/{export_id}/', {
      section: 'Additions',
      summary: 'How an export stands, and where its file is',
    }),
  )
  .input(z.object({ export_id: idOf('export').meta({ description: 'The export' }) }))
  .output(Export)
  .query(async ({ ctx, input }) => {
    const { db, caller, services } = ctx;
    const row = await selectExports(db, caller.companyId, services.clock.now())
      .where('export_id', '=', input.export_id)
      .select(exportColumns)
      .executeTakeFirstOrThrow(() => NOT_FOUND());
    return toExport(row, services);
  });
