import { z } from 'zod';
import { NOT_FOUND } from '../../errors/errors.ts';
import { rest } from '../../kernel/operation.ts';
import { admin } from '../../kernel/procedures.ts';
import { idOf } from '../../kernel/wire/fields.ts';
import { exportColumns, selectExports, toExport } from './queries.ts';
import { Export } from './schemas.ts';

export const listExports = admin('everything')
  .meta(
    rest('GET /api/exports/company/{company_id}/', {
      section: 'Additions',
      summary: "The company's exports",
      description: 'Those that have not expired, the newest first.',
    }),
  )
  .input(z.object({ company_id: idOf('company') }))
  .output(z.object({ exports: z.array(Export).meta({ description: 'The exports, the newest first' }) }))
  .query(async ({ ctx, input }) => {
    const { db, caller, services } = ctx;
    if (input.company_id !== caller.companyId) throw NOT_FOUND();
    const rows = await selectExports(db, caller.companyId, services.clock.now())
      .select(exportColumns)
      .orderBy('export_id', 'desc')
      .execute();
    return { exports: rows.map((row) => toExport(row, services)) };
  });
