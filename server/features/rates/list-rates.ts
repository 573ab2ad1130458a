import { z } from 'zod';
import { NOT_FOUND } from '../../errors/errors.ts';
import { rest } from '../../kernel/operation.ts';
import { admin } from '../../kernel/procedures.ts';
import { cursorField, cursorNumber, nextCursor, readCursor, toCursor } from '../../kernel/wire/cursor.ts';
import { idOf } from '../../kernel/wire/fields.ts';
import { checkSubject, rateColumns, toRate } from './queries.ts';
import { Rate, subjectFields } from './schemas.ts';

const pageSize = 100;
const position = z.tuple([cursorNumber]);

export const listRates = admin('time')
  .meta(
    rest('GET /api/rates/{company_id}/', {
      section: 'Additions',
      summary: 'Hourly rates of the company',
      description: `For admins. The newest first, ${pageSize} at a time; filters are combined, and each finds the rates that name it.`,
      example: { project_id: 7 },
    }),
  )
  .input(z.object({ company_id: idOf('company'), ...subjectFields, cursor: cursorField }))
  .output(
    z.object({
      results: z.array(Rate).meta({ description: 'The rates of this page' }),
      nextCursor,
    }),
  )
  .query(async ({ ctx, input }) => {
    const { db, caller } = ctx;
    const { companyId } = caller;
    const { task_id: taskId, project_id: projectId, employee_id: employeeId } = input;
    if (input.company_id !== companyId) throw NOT_FOUND();
    await checkSubject(db, companyId, input);
    const before = readCursor(input.cursor, position);
    const rows = await db
      .selectFrom('rates')
      .where('company_id', '=', companyId)
      .$if(taskId !== undefined, (query) => query.where('task_id', '=', taskId!))
      .$if(projectId !== undefined, (query) => query.where('project_id', '=', projectId!))
      .$if(employeeId !== undefined, (query) => query.where('employee_id', '=', employeeId!))
      .$if(before !== undefined, (query) => query.where('rate_id', '<', before![0]))
      .select(rateColumns)
      .orderBy('rate_id', 'desc')
      .limit(pageSize + 1)
      .execute();
    const results = rows.slice(0, pageSize).map(toRate);
    return { results, nextCursor: rows.length > pageSize ? toCursor(results.at(-1)!._id) : null };
  });
