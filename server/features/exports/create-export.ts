import { z } from 'zod';
import { notFoundIn } from '../../errors/errors.ts';
import { enqueueJob } from '../../kernel/job.ts';
import { rest } from '../../kernel/operation.ts';
import { admin } from '../../kernel/procedures.ts';
import { idOf } from '../../kernel/wire/fields.ts';
import { findEmployee } from '../employees/queries.ts';
import { EXPORT_IN_PROGRESS, EXPORT_LIMIT_REACHED } from './errors.ts';
import { lifetimeMs, makeExport } from './make-export.ts';
import { exportColumns, noteExport, selectExports, toExport } from './queries.ts';
import { Export } from './schemas.ts';

/** With a file of 50 MB each, what a company takes at most. */
const exportsMax = 5;

export const createExport = admin('everything')
  .meta(
    rest('POST /api/exports/', {
      section: 'Additions',
      summary: 'Make a file with all data of the company, or of one person',
      description:
        'Without `userId` the file has everything that belongs to the company and can be imported into another installation; with it, what concerns this employee. It is a ZIP archive with a file of JSON Lines for each table and a `manifest.json`, read from one snapshot, without passwords, keys and other secrets; [a guide](/docs/guides/exports) describes it. It is made in the background: read the export until its state is `finished`, and get the file from its `url` within 24 hours. A company makes one at a time, and has five at most.',
      errors: [EXPORT_IN_PROGRESS, EXPORT_LIMIT_REACHED],
      whileClosed: true,
      example: { userId: null },
    }),
  )
  .input(
    z.object({
      userId: idOf('employee')
        .nullish()
        .meta({ description: 'The employee whose data it has; null for the whole company' }),
    }),
  )
  .output(Export)
  .mutation(async ({ ctx, input }) => {
    const { db, caller, services } = ctx;
    const { companyId } = caller;
    const now = services.clock.now();
    const employeeId = input.userId ?? null;
    if (employeeId !== null && !(await findEmployee(db, companyId, employeeId))) throw notFoundIn('userId');
    // The sweep may be late, and one that has never finished would keep others from being made.
    await db.deleteFrom('exports').where('company_id', '=', companyId).where('expires_at', '<=', now).execute();
    const row = await db
      .insertInto('exports')
      .values({
        company_id: companyId,
        employee_id: employeeId,
        requested_by_id: caller.employeeId,
        created_at: now,
        expires_at: new Date(now.getTime() + lifetimeMs),
      })
      .onConflict((conflict) => conflict.doNothing())
      .returning(exportColumns)
      .executeTakeFirstOrThrow(() => EXPORT_IN_PROGRESS());
    const { count } = await selectExports(db, companyId, now)
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    if (count > exportsMax) throw EXPORT_LIMIT_REACHED();
    const asked = { companyId, exportId: row.export_id };
    await enqueueJob(db, makeExport, { dedupeKey: `${companyId} ${row.export_id}`, payload: asked, now });
    noteExport(db, 'created', row);
    return toExport(row, services);
  });
