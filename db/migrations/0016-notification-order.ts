import { sql, type Kysely } from 'kysely';

/** When each person's newest notification was made: the next one is never older, whichever node writes it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table notification_counts add column last_created_at timestamptz`.execute(db);
}
