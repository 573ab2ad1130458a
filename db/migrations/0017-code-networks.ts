import { sql, type Kysely } from 'kysely';

/** Which network asked for a code: it may still try it after too many wrong tries of others. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table one_time_codes add column asked_by_network text`.execute(db);
}
