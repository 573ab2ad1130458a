import { sql, type Kysely } from 'kysely';

/** Companies take turns in the outbox. A job of no company, such as a code for a stranger, waits as that of company 0. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // Generated, because triggers and earlier versions insert jobs too. Not called company_id: the outbox belongs to the
  // service, and row security would hide it from the worker.
  await sql`
    alter table jobs add column waits_for_company bigint generated always as (
      case when dead_lettered_at is null then coalesce((payload ->> 'companyId')::bigint, 0) end
    ) stored`.execute(db);
  await sql`create index jobs_by_company on jobs (queue, waits_for_company, due_at, job_id)`.execute(db);
}
