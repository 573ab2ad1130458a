import { sql, type RawBuilder } from 'kysely';
import { z } from 'zod';
import { amountOf, rateOf } from '../../../db/derived/amounts.ts';
import { lockDays } from '../../../db/derived/work-time.ts';
import type { Db } from '../../../db/open.ts';
import { invalid, PERIOD_LOCKED, periodLocked } from '../../errors/errors.ts';
import { noteChange } from '../../kernel/audit-log.ts';
import { rest } from '../../kernel/operation.ts';
import { admin } from '../../kernel/procedures.ts';
import { checkRange } from '../../kernel/wire/day-range.ts';
import { Money, moneyOf, sumMoney } from '../../kernel/wire/money.ts';
import { day } from '../../kernel/wire/moments.ts';
import { checkSubject, type RateSubject } from './queries.ts';
import { subjectFields } from './schemas.ts';

/** Small enough to keep every statement far below its time limit. */
const logsMax = 20_000;

export const applyToLogs = admin('time')
  .meta(
    rest('POST /api/tasklogs/apply-rates/', {
      section: 'Additions',
      summary: 'Give stored logs the rates of today',
      description: `For admins. Finds the rate of each log that starts on a day from \`from\` to \`to\` (at most 366 days and ${logsMax.toLocaleString('en')} logs), of the task, project and employee that are named, and stores it where it differs. With \`dryRun\` it answers the same and changes nothing. Approved time keeps its rates: where a log of an approved period would change, nothing does, and 409 \`PERIOD_LOCKED\` names its days, also with \`dryRun\`. A log that is not billable has no rate.`,
      errors: [PERIOD_LOCKED],
      example: { from: '2026-03-01', to: '2026-03-31', project_id: 7, dryRun: true },
    }),
  )
  .input(
    z.object({
      from: day,
      to: day,
      task_id: subjectFields.task_id.meta({ description: 'Only the logs of this task' }),
      project_id: subjectFields.project_id.meta({ description: 'Only the logs of this project' }),
      employee_id: subjectFields.employee_id.meta({ description: 'Only the logs of this employee' }),
      dryRun: z.boolean().meta({ description: 'Whether to say only what would change', examples: [true] }),
    }),
  )
  .output(
    z.object({
      dryRun: z.boolean().meta({ description: 'Whether nothing was changed' }),
      logs: z.int().meta({ description: 'How many logs were found' }),
      changed: z.int().meta({ description: 'How many of them had another rate' }),
      before: z.array(Money).meta({ description: 'What those amounted to' }),
      after: z.array(Money).meta({ description: 'What they amount to with the new rates' }),
    }),
  )
  .mutation(async ({ ctx, input }) => {
    const { db, caller } = ctx;
    const { companyId } = caller;
    const { from, to, dryRun } = input;
    checkRange(from, to);
    await checkSubject(db, companyId, input);
    const found = await findLogs(db, companyId, input);
    if (found.length > logsMax)
      throw invalid(['to'], `the range has more than ${logsMax} logs: ask for fewer days`, 'out_of_range');
    const ids = dryRun ? found.map((log) => log.task_log_id) : await lockLogs(db, companyId, found);
    const changes = await findChanges(db, companyId, ids);
    if (!dryRun)
      await lockDays(
        db,
        companyId,
        changes.map((log) => log.employee_id),
      );
    await refuseApproved(db, companyId, changes);

    const before = sumMoney(changes.flatMap((log) => moneyOf(log.old_amount, log.old_currency) ?? []));
    const after = sumMoney(changes.flatMap((log) => moneyOf(log.new_amount, log.new_currency) ?? []));
    if (!dryRun && changes.length > 0) {
      await storeRates(db, companyId, changes);
      noteChange(db, companyId, {
        event: 'rate.applied',
        kind: 'rate',
        id: null,
        before: { amounts: before },
        after: { ...input, changed: changes.length, amounts: after },
      });
      ctx.afterCommit(ctx.services.wakeWorker);
    }
    return { dryRun, logs: ids.length, changed: changes.length, before, after };
  });

type Found = { task_log_id: number; task_id: number };
type Asked = RateSubject & { from: string; to: string };

/** The logs that start in the range, one more than allowed. */
async function findLogs(db: Db, companyId: number, asked: Asked): Promise<Found[]> {
  const only = (column: string, id: number | undefined): RawBuilder<unknown> =>
    id === undefined ? sql`` : sql`and ${sql.ref(column)} = ${id}`;
  const { rows } = await sql<Found>`
    select l.task_log_id, l.task_id
    from (
      select local_day_start(${asked.from}::date, timezone) as starts, local_day_start(${asked.to}::date + 1, timezone) as ends
      from companies where company_id = ${companyId}
    ) as r
    join employees as e on e.company_id = ${companyId} ${only('e.employee_id', asked.employee_id)}
    -- The offset keeps this an index scan for each employee.
    cross join lateral (
      select task_log_id, task_id from task_logs as l
      where l.company_id = ${companyId} and l.employee_id = e.employee_id and l.start_time >= r.starts and l.start_time < r.ends
        ${only('l.project_id', asked.project_id)} ${only('l.task_id', asked.task_id)}
      offset 0
    ) as l
    limit ${logsMax + 1}`.execute(db);
  return rows;
}

/** Locks the tasks and then the logs, in the order of all writers; returns the logs that are still there. */
async function lockLogs(db: Db, companyId: number, found: readonly Found[]): Promise<number[]> {
  const taskIds = [...new Set(found.map((log) => log.task_id))];
  await sql`
    select from tasks where company_id = ${companyId} and task_id = any(${taskIds}::bigint[]) order by task_id for share`.execute(
    db,
  );
  const { rows } = await sql<{ task_log_id: number }>`
    select task_log_id from task_logs
    where company_id = ${companyId} and task_log_id = any(${found.map((log) => log.task_log_id)}::bigint[])
    order by task_log_id for no key update`.execute(db);
  return rows.map((row) => row.task_log_id);
}

type Change = {
  task_log_id: number;
  employee_id: number;
  start_time: Date;
  end_time: Date;
  old_amount: number | null;
  old_currency: string | null;
  new_rate: number | null;
  new_amount: number | null;
  new_currency: string | null;
};

const rateNow = sql.raw(
  rateOf({
    company: 'l.company_id',
    task: 'l.task_id',
    project: 'l.project_id',
    employee: 'l.employee_id',
    day: 'local_day(l.start_time, c.timezone)',
  }),
);
const oldAmount = sql.raw(amountOf('l.duration_seconds', 'l.rate_minor_units'));
const newAmount = sql.raw(amountOf('l.duration_seconds', 'r.minor_units'));

/** The logs whose rate is another one now. */
async function findChanges(db: Db, companyId: number, ids: readonly number[]): Promise<Change[]> {
  const { rows } = await sql<Change>`
    select l.task_log_id, l.employee_id, l.start_time, l.end_time,
      ${oldAmount} as old_amount, l.currency as old_currency,
      r.minor_units as new_rate, ${newAmount} as new_amount, r.currency as new_currency
    from companies as c join task_logs as l on l.company_id = c.company_id
    left join lateral ${rateNow} as r on l.billable
    where c.company_id = ${companyId} and l.task_log_id = any(${ids}::bigint[])
      and (l.rate_minor_units, l.currency) is distinct from (r.minor_units, r.currency)
    order by l.task_log_id`.execute(db);
  return rows;
}

async function refuseApproved(db: Db, companyId: number, changes: readonly Change[]): Promise<void> {
  const { rows } = await sql<{ day: string }>`
    select distinct t.day
    from touched_days(
      ${companyId}, ${changes.map((log) => log.employee_id)}::bigint[],
      ${changes.map((log) => log.start_time)}::timestamptz[], ${changes.map((log) => log.end_time)}::timestamptz[]
    ) as t
    join timesheet_periods as p on p.company_id = ${companyId} and p.employee_id = t.employee_id
      and p.first_day between t.day - 30 and t.day and p.last_day >= t.day and p.state = 'approved'`.execute(db);
  const detail = 'The time of these days is approved and keeps its rates: reopen the period first.';
  const days = rows.map(({ day }) => day);
  if (days.length > 0) throw periodLocked(days, { detail });
}

async function storeRates(db: Db, companyId: number, changes: readonly Change[]): Promise<void> {
  await sql`
    update task_logs as l set rate_minor_units = n.rate, currency = n.currency
    from unnest(
      ${changes.map((log) => log.task_log_id)}::bigint[], ${changes.map((log) => log.new_rate)}::bigint[],
      ${changes.map((log) => log.new_currency)}::text[]
    ) as n (task_log_id, rate, currency)
    where l.company_id = ${companyId} and l.task_log_id = n.task_log_id`.execute(db);
}
