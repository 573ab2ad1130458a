import { sql, type RawBuilder } from 'kysely';
import type { Db } from '../../db/open.ts';
import type { Queue } from '../kernel/job.ts';

/** A job that this process, and no other, may run until its lease ends. */
export type LeasedJob = {
  jobId: number;
  handler: string;
  dedupeKey: string;
  /** 0 for a job of no company. */
  companyId: number;
  payload: unknown;
  createdAt: Date;
  /** The number of this attempt. It also tells this lease from every other lease of the job. */
  attempt: number;
  /** When the lease ends. A renewal moves it. */
  leasedUntil: Date;
};

/** So many companies with jobs are looked at for one claim; the next claim goes on behind them. */
const companiesMax = 100;

const leasedColumns = sql`job_id as "jobId", handler, dedupe_key as "dedupeKey", waits_for_company as "companyId", payload,
  created_at as "createdAt", attempts as attempt`;

type Claim = {
  queue: Queue;
  count: number;
  heldIds: number[];
  /** The company after which the turns go on. */
  after: number;
  now: Date;
  until: Date;
};

/**
 * Leases up to `count` jobs of a queue that are due and not leased. Companies take turns, from the one after `after` on, and
 * share `count`; what they leave goes to the jobs that are due longest. Returns the company after which the next claim goes on.
 *
 * - Each company is one look into the index `jobs_by_company`, so the number of waiting jobs costs nothing. No other index
 *   has its columns or fits a condition without `dead_lettered_at`, so no plan reads past the jobs of another company.
 * - The values are literals, so that the statement has no name and is planned at each claim: a plan kept from an empty table
 *   would read the whole table once for each company.
 * - Jobs are picked once, for an array: a subquery that the update joins may be run once for each row of the table, and then
 *   leases more than `count`.
 */
export async function takeLeases(
  db: Db,
  { queue, count, heldIds, after, now, until }: Claim,
): Promise<{ jobs: LeasedJob[]; after: number }> {
  if (count <= 0) return { jobs: [], after };
  const [atNow, atUntil] = [now, until].map((moment) => sql`${sql.lit(moment.toISOString())}::timestamptz`);
  const inQueue = sql`queue = ${sql.lit(queue)}`;
  const isFree = sql`due_at <= ${atNow} and (leased_until is null or leased_until < ${atNow})
    and job_id <> all(${sql.lit(`{${heldIds.join()}}`)}::bigint[])`;
  const ofCompany = sql`${inQueue} and ${isFree} and (waits_for_company, due_at) >= (t.company, '-infinity'::timestamptz)
    and (waits_for_company, due_at) <= (t.company, ${atNow}) order by waits_for_company, due_at, job_id`;
  const first = (condition: RawBuilder<unknown>) => sql`(
    select waits_for_company from jobs where ${inQueue} and waits_for_company ${condition} order by waits_for_company limit 1)`;
  const { rows } = await sql<Omit<LeasedJob, 'leasedUntil'> & { next: number }>`
    with recursive circle (company) as (
      select coalesce(${first(sql`> ${sql.lit(after)}`)}, ${first(sql`>= 0`)})
      union
      select coalesce(${first(sql`> c.company`)}, ${first(sql`>= 0`)}) from circle as c where c.company is not null
    ), turns as materialized (
      select company, row_number() over () as turn from circle where company is not null limit ${sql.lit(companiesMax)}
    ), due as materialized (
      select t.company, t.turn from turns as t cross join lateral (select from jobs where ${ofCompany} limit 1) as job
      limit ${sql.lit(count)}
    ), fair as materialized (
      select job.job_id from due as t cross join lateral (
        select job_id from jobs where ${ofCompany}
        limit (select greatest(1, ${sql.lit(count)} / count(*)) from due) for update skip locked
      ) as job
      limit ${sql.lit(count)}
    ), longest as materialized (
      select job_id from jobs
      where ${inQueue} and dead_lettered_at is null and ${isFree} and job_id not in (select job_id from fair)
      order by due_at, job_id limit ${sql.lit(count)} - (select count(*) from fair) for update skip locked
    ), last_turn as materialized (
      select company from turns where turn = (
        select case when count(*) = ${sql.lit(count)} then max(turn) else (select max(turn) from turns) end from due)
    )
    update jobs set leased_until = ${atUntil}, attempts = attempts + 1
    where job_id = any(array(select job_id from fair union all select job_id from longest))
    returning ${leasedColumns}, (select company from last_turn) as next`.execute(db);
  let last = after;
  const jobs = rows.map(({ next, ...row }) => {
    last = next;
    return { ...row, leasedUntil: until };
  });
  return { jobs: jobs.toSorted((a, b) => a.jobId - b.jobId), after: last };
}

/** The queues in which a claim could find something. */
export async function findDueQueues(db: Db, now: Date): Promise<Queue[]> {
  const { rows } = await sql<{ queue: Queue }>`
    select distinct queue from jobs where dead_lettered_at is null and due_at <= ${now}`.execute(db);
  return rows.map(({ queue }) => queue);
}

/** So many jobs of a company are looked at for those that are like another one. */
const alikeAmong = 500;

/**
 * Leases up to `count` more jobs that can be run with this one: of its kind and company, due, and never attempted. Planned at
 * each call, as above.
 */
export async function takeAlike(
  db: Db,
  { companyId, handler }: LeasedJob,
  { queue, count, now, until }: Pick<Claim, 'queue' | 'count' | 'now' | 'until'>,
): Promise<LeasedJob[]> {
  const [atNow, atUntil] = [now, until].map((moment) => sql`${sql.lit(moment.toISOString())}::timestamptz`);
  const { rows } = await sql<Omit<LeasedJob, 'leasedUntil'>>`
    with oldest as materialized (
      select job_id, handler, attempts from jobs
      where queue = ${sql.lit(queue)} and (waits_for_company, due_at) >= (${sql.lit(companyId)}, '-infinity'::timestamptz)
        and (waits_for_company, due_at) <= (${sql.lit(companyId)}, ${atNow})
      order by waits_for_company, due_at, job_id limit ${sql.lit(alikeAmong)}
    ), picked as materialized (
      select job_id from jobs
      where job_id = any(array(select job_id from oldest where handler = ${sql.lit(handler)} and attempts = 0))
        and dead_lettered_at is null and leased_until is null and attempts = 0
      order by due_at, job_id limit ${sql.lit(count)} for update skip locked
    )
    update jobs set leased_until = ${atUntil}, attempts = attempts + 1
    where job_id = any(array(select job_id from picked))
    returning ${leasedColumns}`.execute(db);
  return rows.map((row) => ({ ...row, leasedUntil: until })).toSorted((a, b) => a.jobId - b.jobId);
}

/** Extends leases; returns the jobs whose lease is still this process's. Another process's lease has a higher attempt. */
export async function renewLeases(db: Db, jobs: LeasedJob[], until: Date): Promise<number[]> {
  const { rows } = await sql<{ job_id: number }>`
    update jobs as j set leased_until = ${until}
    from unnest(${jobs.map((job) => job.jobId)}::bigint[], ${jobs.map((job) => job.attempt)}::int[]) as h (id, attempt)
    where j.job_id = h.id and j.attempts = h.attempt and j.leased_until is not null
    returning j.job_id`.execute(db);
  return rows.map((row) => row.job_id);
}

export async function deleteJobs(db: Db, jobs: LeasedJob[]): Promise<void> {
  await sql`delete from jobs where job_id = any(${jobs.map((job) => job.jobId)}::bigint[])`.execute(db);
}

/** The outcome of a failed job: its next attempt, or the dead letters. */
export type Failure = { reason: string; retryAt: Date } | { reason: string; deadLetteredAt: Date };

export async function releaseFailedJob(db: Db, { jobId, attempt }: LeasedJob, failure: Failure): Promise<void> {
  const retryAt = 'retryAt' in failure ? failure.retryAt : null;
  const deadLetteredAt = 'deadLetteredAt' in failure ? failure.deadLetteredAt : null;
  await sql`
    update jobs set leased_until = null, last_error = ${failure.reason},
      due_at = coalesce(${retryAt}::timestamptz, due_at), dead_lettered_at = ${deadLetteredAt}::timestamptz
    where job_id = ${jobId} and attempts = ${attempt}`.execute(db);
}
