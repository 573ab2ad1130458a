import { sql, type Kysely } from 'kysely';

/** Triggers keep derived data from here on; db/derived installs them after the migrations. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table derived_definitions (name text primary key, hash text not null)`.execute(db);
  await sql`alter table projects drop column is_exceeded`.execute(db);
  await sql`
    alter table projects add column is_exceeded boolean not null
      generated always as (coalesce(logged_seconds > allocated_hours * 3600, false)) stored`.execute(db);
}
