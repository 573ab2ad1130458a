import { sql, type Selectable } from 'kysely';
import type { z } from 'zod';
import type { Db } from '../../../db/open.ts';
import type { Schema } from '../../../db/schema.ts';
import { weekdays, type approvers, type periodLengths, type TimePolicy } from './schemas.ts';

export type PolicyRow = Omit<Selectable<Schema['time_policies']>, 'company_id'>;

const columns = [
  'period',
  'week_start',
  'lock_after_days',
  'grace_days',
  'approver',
  'require_approval',
  'expected_minutes',
] as const;

/** The policy of a company that has set none. */
export const defaultPolicy: PolicyRow = {
  period: 'week',
  week_start: 1,
  lock_after_days: null,
  grace_days: 0,
  approver: 'teamLeader',
  require_approval: false,
  expected_minutes: [480, 480, 480, 480, 480, 0, 0],
};

export async function readPolicy(db: Db, companyId: number): Promise<PolicyRow> {
  const row = await db
    .selectFrom('time_policies')
    .where('company_id', '=', companyId)
    .select(columns)
    .executeTakeFirst();
  return row ?? defaultPolicy;
}

/** Makes the row of a company that has none: without one no day is locked. */
export async function ensurePolicy(db: Db, companyId: number): Promise<void> {
  await db
    .insertInto('time_policies')
    .values({ company_id: companyId, ...defaultPolicy })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** The policy, locked against other changes until the transaction ends; call {@link ensurePolicy} first. */
export async function lockPolicy(db: Db, companyId: number): Promise<PolicyRow> {
  return db
    .selectFrom('time_policies')
    .where('company_id', '=', companyId)
    .select(columns)
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow();
}

/** The periods of the policy that have a day in the range, in their order. */
export async function listPeriodBounds(
  db: Db,
  { period, week_start: weekStart }: PolicyRow,
  { from, to }: { from: string; to: string },
): Promise<{ firstDay: string; lastDay: string }[]> {
  const { rows } = await sql<{ first_day: string; last_day: string }>`
    select distinct period_start(d.day, ${period}, ${weekStart}) as first_day,
      period_end(d.day, ${period}, ${weekStart}) as last_day
    from (select ${from}::date + n as day from generate_series(0, ${to}::date - ${from}::date) as n) as d
    order by first_day`.execute(db);
  return rows.map((row) => ({ firstDay: row.first_day, lastDay: row.last_day }));
}

export async function toPolicy(db: Db, companyId: number, row: PolicyRow): Promise<z.input<typeof TimePolicy>> {
  const { rows } = await sql<{ day: string | null }>`select locked_before(${companyId}) as day`.execute(db);
  return {
    company_id: companyId,
    period: row.period as (typeof periodLengths)[number],
    weekStart: weekdays[row.week_start - 1]!,
    lockAfterDays: row.lock_after_days,
    graceDays: row.grace_days,
    approver: row.approver as (typeof approvers)[number],
    requireApproval: row.require_approval,
    expectedMinutes: row.expected_minutes,
    lockedBefore: rows[0]!.day,
  };
}
