import { sql } from 'kysely';
import { z } from 'zod';
import { invalid, NOT_FOUND } from '../../errors/errors.ts';
import { noteChange } from '../../kernel/audit-log.ts';
import { rest } from '../../kernel/operation.ts';
import { admin } from '../../kernel/procedures.ts';
import { idOf } from '../../kernel/wire/fields.ts';
import { checkSubject, rateColumns, toRate } from './queries.ts';
import { Rate, rateFields, subjectFields } from './schemas.ts';

export const setRate = admin('time')
  .meta(
    rest('PUT /api/rates/{company_id}/', {
      section: 'Additions',
      summary: 'Set an hourly rate',
      description:
        'For admins. The rate of a task (`task_id`), of an employee on a project (`project_id` and `employee_id`), of a project, of an employee, or of the company (none of them); the first of these that is there on the day of a log is the rate of that log. One of the same subject and day is replaced. New logs take it from then on; stored logs keep their rates until POST `/api/tasklogs/apply-rates/` is called. See [the guide](/docs/guides/money).',
      example: { project_id: 7, validFrom: '2026-01-01', hourlyRate: { minorUnits: 9500, currency: 'EUR' } },
    }),
  )
  .input(z.object({ company_id: idOf('company'), ...subjectFields, ...rateFields }))
  .output(Rate)
  .mutation(async ({ ctx, input }) => {
    const { db, caller, services } = ctx;
    const { companyId } = caller;
    if (input.company_id !== companyId) throw NOT_FOUND();
    const { task_id = null, project_id = null, employee_id = null, validFrom: valid_from, hourlyRate } = input;
    await checkSubject(db, companyId, input);
    if (task_id !== null && project_id !== null) throw invalid(['project_id'], alone, 'mismatch');
    if (task_id !== null && employee_id !== null) throw invalid(['employee_id'], alone, 'mismatch');

    const subject = { company_id: companyId, task_id, project_id, employee_id, valid_from };
    const before = await db
      .selectFrom('rates')
      .where(
        sql<boolean>`(${subjectKey}) = (${companyId}, ${task_id ?? 0}, ${project_id ?? 0}, ${employee_id ?? 0}, ${valid_from}::date)`,
      )
      .select(rateColumns)
      .forUpdate()
      .executeTakeFirst();
    const amount = { minor_units: hourlyRate?.minorUnits ?? null, currency: hourlyRate?.currency ?? null };
    const row = await db
      .insertInto('rates')
      .values({ ...subject, ...amount, created_at: services.clock.now() })
      .onConflict((conflict) => conflict.expression(subjectKey).doUpdateSet(amount))
      .returning(rateColumns)
      .executeTakeFirstOrThrow();
    const rate = toRate(row);
    const change = { event: 'rate.set', kind: 'rate', id: rate._id } as const;
    noteChange(db, companyId, { ...change, before: before ? toRate(before) : null, after: rate });
    return rate;
  });

const alone = 'must not be given with task_id: the rate of a task is the same for everybody';

/** The expressions of the unique index. */
const subjectKey = sql`company_id, coalesce(task_id, 0), coalesce(project_id, 0), coalesce(employee_id, 0), valid_from`;
