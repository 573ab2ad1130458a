import { sql, type Kysely } from 'kysely';

/** The only row holds when old rows were last looked for, by any node, and since when that time has been doubted. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table sweep_rounds (
      looked_at timestamptz,
      doubted_since timestamptz,
      only_row boolean primary key default true check (only_row)
    )`.execute(db);
  await sql`insert into sweep_rounds default values`.execute(db);
}
