import { sql } from 'kysely';
import type { Db } from '../../../db/open.ts';
import type { Services } from '../../kernel/context.ts';
import { inTransaction } from '../../kernel/in-transaction.ts';
import { enqueueJobs } from '../../kernel/job.ts';
import { morning } from './morning.ts';

/*
 * A company's morning is 08:00 of each day in its time zone. Its invariants:
 *
 * - A company has at most one morning a day: `company_mornings` has its key. Nodes that plan at once, and a plan that
 *   runs twice, add nothing.
 * - Only a company that may have something to notify of has a row and a job. The others cost a comparison of times.
 * - A morning that was not planned in time, because no node ran, is planned later on the same day, but not after it.
 * - A closed company has none.
 * - A company that moves into a time zone where 08:00 has passed has its morning with the change.
 */

/** The rounds overlap, because the clocks of nodes differ. */
const overlapMs = 5 * 60_000;
const dayMs = 24 * 3600 * 1000;

/** Plans the mornings since the last round of any node; returns how many there are. */
export async function planMornings(
  services: Pick<Services, 'database' | 'clock' | 'streams' | 'wakeWorker' | 'wakeWebhooks'>,
): Promise<number> {
  const now = services.clock.now();
  // All companies are read to find those whose morning has come.
  return inTransaction(services, 'all companies', async (db) => {
    const plannedUntil = await takeRound(db, now);
    if (!plannedUntil) return 0;
    // After a round at a wrong time all mornings of today are looked for: no company has one twice.
    const after = plannedUntil > now ? now.getTime() - dayMs : plannedUntil.getTime() - overlapMs;
    return plan(db, { after: new Date(after), now, only: null });
  });
}

/** Plans the morning of a company that changed its time zone. */
export async function planMorningOf(db: Db, companyId: number, now: Date): Promise<void> {
  await plan(db, { after: new Date(now.getTime() - dayMs), now, only: companyId });
}

/**
 * The end of the previous round; undefined if another node is planning, or its clock is ahead. One of more than a day ahead was
 * wrong, and must not keep people from their mornings until then.
 */
async function takeRound(db: Db, now: Date): Promise<Date | undefined> {
  const { rows } = await sql<{ planned_until: Date }>`
    with before as (
      select planned_until from morning_rounds
      where planned_until < ${now} or planned_until > ${new Date(now.getTime() + dayMs)} for update skip locked
    )
    update morning_rounds set planned_until = ${now} from before
    returning before.planned_until`.execute(db);
  return rows[0]?.planned_until;
}

/** Plans the mornings whose 08:00 is between `after` and `now`, of all companies or of one. */
async function plan(db: Db, { after, now, only }: { after: Date; now: Date; only: number | null }): Promise<number> {
  const { rows } = await sql<{ company_id: number; day: string }>`
    with zones as materialized (
      select timezone, day
      from (
        select timezone, local_day(${now}::timestamptz, timezone) as day
        from (
          select distinct timezone from companies where ${only}::bigint is null or company_id = ${only}::bigint
        ) as used
      ) as today
      where (day + time '08:00') at time zone timezone > ${after} and (day + time '08:00') at time zone timezone <= ${now}
    )
    insert into company_mornings (company_id, day, created_at)
    select c.company_id, z.day, ${now}
    from companies as c join zones as z on z.timezone = c.timezone
    where (${only}::bigint is null or c.company_id = ${only}::bigint) and c.closes_at is null
      and (
        exists (
          select from tasks as t
          where t.company_id = c.company_id and t.due_date = z.day + 1 and t.deleted_at is null and t.status <> 'done'
        )
        or exists (
          select from tasks as t
          where t.company_id = c.company_id and t.due_date = z.day - 1 and t.deleted_at is null and t.status <> 'done'
        )
        or exists (
          select from subscriptions as s
          where s.company_id = c.company_id and s.trial and s.status = 'trialing'
            and local_day(s.ends_at, z.timezone) = z.day + 3
        )
        or exists (
          select from api_keys as k
          where k.company_id = c.company_id and k.revoked_at is null and k.expiry_mailed_at is null
            and k.expires_at > ${now}::timestamptz and k.expires_at < local_day_start(z.day + 8, z.timezone)
            and k.created_at < k.expires_at - interval '7 days'
        )
        or exists (
          select from time_policies as p
          where p.company_id = c.company_id and p.require_approval and period_end(z.day, p.period, p.week_start) = z.day
        )
      )
    on conflict (company_id, day) do nothing
    returning company_id, day`.execute(db);
  const jobs = rows.map(({ company_id: companyId, day }) => ({
    dedupeKey: `${companyId} ${day}`,
    payload: { companyId, day },
  }));
  await enqueueJobs(db, morning, jobs, now);
  return rows.length;
}
