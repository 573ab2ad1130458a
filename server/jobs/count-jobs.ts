import { sql } from 'kysely';
import type { Db } from '../../db/open.ts';

/** `oldestSeconds` is the time since the oldest pending job was first due; 0 if none is pending. */
export type JobCounts = { pending: number; dead_lettered: number; late: number; oldestSeconds: number };

/** A job that has been due for longer is late: the workers do not keep up. */
const lateAfterMs = 60_000;

/** Counts jobs of all nodes. Each part reads one partial index, of pending or of dead-lettered jobs. */
export async function countJobs(db: Db, now: Date): Promise<JobCounts> {
  const { rows } = await sql<JobCounts>`
    select count(*) as pending, count(*) filter (where due_at <= ${new Date(now.getTime() - lateAfterMs)}) as late,
      -- A failure has moved due_at, so a job that has failed counts from its creation.
      coalesce(extract(epoch from ${now}::timestamptz
        - min(case when last_error is null then due_at else created_at end)), 0)::float as "oldestSeconds",
      (select count(*) from jobs where dead_lettered_at is not null) as dead_lettered
    from jobs
    where dead_lettered_at is null and (attempts > 0 or due_at <= ${now})`.execute(db);
  return rows[0]!;
}
