import { sql, type Kysely } from 'kysely';

/**
 * What is logged on a day of a company while another transaction holds the row of that day in `company_days`. The total of
 * a day is the sum of both. Earlier versions read `company_days` alone; where they recompute it, the shards go with it.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table company_day_shards (
      company_id bigint not null references companies on delete cascade,
      day date not null,
      shard smallint not null,
      logged_seconds bigint not null,
      primary key (company_id, day, shard),
      foreign key (company_id, day) references company_days on delete cascade
    )`.execute(db);
}
