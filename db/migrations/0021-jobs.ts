import { sql, type Kysely } from 'kysely';

/** The outbox takes the names that other outboxes have. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table deliveries rename to jobs`.execute(db);
  await sql`alter table jobs rename column delivery_id to job_id`.execute(db);
  await sql`alter table jobs rename column reaction to handler`.execute(db);
  await sql`alter table jobs rename column lane to queue`.execute(db);
  await sql`alter table jobs rename column parked_at to dead_lettered_at`.execute(db);
  await sql`alter sequence deliveries_delivery_id_seq rename to jobs_job_id_seq`.execute(db);
  await sql`alter index deliveries_by_lane rename to jobs_by_queue`.execute(db);
  await sql`alter index deliveries_parked rename to jobs_dead_lettered`.execute(db);
  // Later servers have constraints for columns that are not null as well, named after table and column.
  await sql`
    do $$
    declare old record;
    begin
      for old in select conname from pg_constraint where conrelid = 'jobs'::regclass and conname like 'deliveries%' loop
        execute format('alter table jobs rename constraint %I to %I', old.conname,
          replace(replace(replace(replace(replace(old.conname,
            'delivery_id', 'job_id'), 'reaction', 'handler'), 'lane', 'queue'), 'parked_at', 'dead_lettered_at'),
            'deliveries', 'jobs'));
      end loop;
    end $$`.execute(db);
  await sql`
    update jobs set handler = 'employee-offboarded',
      dedupe_key = 'employee-offboarded' || substr(dedupe_key, length('timer-of-leaver') + 1)
    where handler = 'timer-of-leaver'`.execute(db);
}
