import { sql, type Kysely } from 'kysely';

/** The mails that limits count, apart from the invitations: those of a person who is erased are deleted. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table invitation_mails (
      company_id bigint not null references companies on delete cascade,
      mail_id bigint generated always as identity,
      address_hash text not null,
      mailed_at timestamptz not null,
      primary key (company_id, mail_id)
    )`.execute(db);
  await sql`create index invitation_mails_sent on invitation_mails (company_id, mailed_at)`.execute(db);
  await sql`create index invitation_mails_ended on invitation_mails (mailed_at)`.execute(db);
}
