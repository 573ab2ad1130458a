import { sql } from 'kysely';
import type { Db } from '../../db/open.ts';
import type { Queue } from '../kernel/job.ts';

/** A job that this process, and no other, may run until its lease ends. */
export type LeasedJob = {
  jobId: number;
  handler: string;
  dedupeKey: string;
  payload: unknown;
  createdAt: Date;
  /** The number of this attempt. It also tells this lease from every other lease of the job. */
  attempt: number;
  /** When the lease ends. A renewal moves it. */
  leasedUntil: Date;
};

/**
 * Leases up to `count` jobs of a queue that are due and not leased, those due longest first. They are picked in a
 * materialized CTE, because a plan may run a subquery of the condition once for each row, and then leases more than `count`.
 */
export async function takeLeases(
  db: Db,
  { queue, count, heldIds, now, until }: { queue: Queue; count: number; heldIds: number[]; now: Date; until: Date },
): Promise<LeasedJob[]> {
  if (count <= 0) return [];
  const { rows } = await sql<Omit<LeasedJob, 'leasedUntil'>>`
    with picked as materialized (
      select job_id from jobs
      where queue = ${queue} and dead_lettered_at is null and due_at <= ${now}
        and (leased_until is null or leased_until < ${now})
        and job_id <> all(${heldIds}::bigint[])
      order by due_at, job_id limit ${count} for update skip locked
    )
    update jobs as j set leased_until = ${until}, attempts = attempts + 1
    from picked as p where j.job_id = p.job_id
    returning j.job_id as "jobId", handler, dedupe_key as "dedupeKey", payload,
      created_at as "createdAt", attempts as attempt`.execute(db);
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

export async function deleteJob(db: Db, { jobId }: LeasedJob): Promise<void> {
  await sql`delete from jobs where job_id = ${jobId}`.execute(db);
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
