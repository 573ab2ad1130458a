import { sql } from 'kysely';
import type { Db } from '../../db/open.ts';

/** A job as operators see it. */
export type ListedJob = {
  id: number;
  handler: string;
  payload: unknown;
  state: JobState | 'running';
  attempts: number;
  created_at: Date;
  due_at: Date;
  dead_lettered_at: Date | null;
  last_error: string | null;
};

/** A job is `pending` when it is due or has failed at least once. A job planned for later is in neither state. */
export type JobState = 'dead-lettered' | 'pending';

const pageSize = 500;

/** The jobs in these states, oldest first, read page by page. */
export async function* listJobs(db: Db, states: JobState[], now: Date): AsyncGenerator<ListedJob> {
  for (let after = 0; ;) {
    const { rows } = await sql<ListedJob>`
      select job_id as id, handler, payload, attempts, created_at, due_at, dead_lettered_at, last_error,
        case when dead_lettered_at is not null then 'dead-lettered' when leased_until > ${now} then 'running'
          else 'pending' end as state
      from jobs
      where job_id > ${after} and (
        (${states.includes('dead-lettered')} and dead_lettered_at is not null)
        or (${states.includes('pending')} and dead_lettered_at is null and (attempts > 0 or due_at <= ${now})))
      order by job_id limit ${pageSize}`.execute(db);
    yield* rows;
    if (rows.length < pageSize) return;
    after = rows.at(-1)!.id;
  }
}

/** All dead-lettered jobs, or those with these identifiers. */
export type DeadLettered = 'dead-lettered' | { ids: number[] };
/** The same, or all jobs that wait for a retry. */
export type Selection = JobState | DeadLettered;

/**
 * Makes jobs due now, with all attempts before them; returns their identifiers. Jobs that are running and jobs planned for
 * later are left alone.
 */
export async function requeueJobs(db: Db, selection: Selection, now: Date): Promise<number[]> {
  const waitsForRetry = sql`dead_lettered_at is null and attempts > 0 and (leased_until is null or leased_until < ${now})`;
  const isDeadLettered = sql`dead_lettered_at is not null`;
  const condition =
    typeof selection === 'object'
      ? sql`job_id = any(${selection.ids}::bigint[]) and (${isDeadLettered} or (${waitsForRetry}))`
      : selection === 'dead-lettered'
        ? isDeadLettered
        : waitsForRetry;
  const { rows } = await sql<{ id: number }>`
    update jobs set dead_lettered_at = null, leased_until = null, attempts = 0, due_at = ${now}
    where ${condition} returning job_id as id`.execute(db);
  return rows.map(({ id }) => id).toSorted((a, b) => a - b);
}

/** Deletes dead-lettered jobs; returns their identifiers. Others are left alone. */
export async function discardJobs(db: Db, selection: DeadLettered): Promise<number[]> {
  const ids = selection === 'dead-lettered' ? null : selection.ids;
  const { rows } = await sql<{ id: number }>`
    delete from jobs where dead_lettered_at is not null and (${ids}::bigint[] is null or job_id = any(${ids}::bigint[]))
    returning job_id as id`.execute(db);
  return rows.map(({ id }) => id).toSorted((a, b) => a - b);
}

/** Whether a job runs now and when it is due; undefined if no job has that identifier. */
export async function findJobStatus(
  db: Db,
  id: number,
  now: Date,
): Promise<{ isRunning: boolean; due_at: Date } | undefined> {
  const { rows } = await sql<{ isRunning: boolean; due_at: Date }>`
    select coalesce(leased_until > ${now}, false) as "isRunning", due_at from jobs where job_id = ${id}`.execute(db);
  return rows[0];
}
