import { sql, type Kysely } from 'kysely';

/** What limits mails of mentions, and what keeps a person who wants notifications by mail alone from getting one twice. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // Keyed by the address and not by the employee: an admin may give one address to several employees in turn.
  await sql`
    create table mention_mails (
      company_id bigint not null references companies on delete cascade,
      address_hash text not null,
      is_invited boolean not null,
      count integer not null,
      ends_at timestamptz not null,
      primary key (company_id, address_hash, is_invited)
    )`.execute(db);
  await sql`create index mention_mails_ended on mention_mails (ends_at)`.execute(db);

  // The causes of notifications that have no row in `notifications`.
  await sql`
    create table unlisted_notifications (
      company_id bigint not null,
      employee_id bigint not null,
      cause text not null,
      primary key (company_id, employee_id, cause),
      foreign key (company_id, employee_id) references employees on delete cascade
    )`.execute(db);
}
