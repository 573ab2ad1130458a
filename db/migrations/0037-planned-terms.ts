import { sql, type Kysely } from 'kysely';

/**
 * The terms of a row are computed by one plan for each connection. PostgreSQL took the general plan for the dearer one and planned the
 * statement again for each row that was stored: two thirds of the time of 0034-search.ts's `search_terms`, whose answers stay as they are.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter function search_terms(text, text) set plan_cache_mode = force_generic_plan`.execute(db);
}
