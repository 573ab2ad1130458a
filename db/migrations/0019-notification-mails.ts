import { sql, type Kysely } from 'kysely';

/** How many mails of notifications a person was sent in the hour that began with the first of them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table notification_mails (
      company_id bigint not null,
      employee_id bigint not null,
      hour_began_at timestamptz not null,
      count integer not null,
      primary key (company_id, employee_id),
      foreign key (company_id, employee_id) references employees on delete cascade
    )`.execute(db);
}
