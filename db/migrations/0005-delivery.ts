import { sql, type Kysely } from 'kysely';

/** Facts (events) in the order of their commit, and the deliveries that they owe to the outside. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table event_streams (
      company_id bigint not null references companies on delete cascade,
      stream text not null,
      last_sequence bigint not null,
      primary key (company_id, stream)
    )`.execute(db);

  await sql`
    create table events (
      company_id bigint not null,
      stream text not null,
      sequence bigint not null,
      type text not null,
      payload jsonb not null,
      at timestamptz not null,
      primary key (company_id, stream, sequence),
      foreign key (company_id, stream) references event_streams on delete cascade
    )`.execute(db);
  await sql`create index events_by_age on events (at)`.execute(db);

  // The outbox. A delivery names a reaction and what it needs to know, never a secret.
  // It belongs to the service, not to a company: some of it (codes for strangers) has none.
  await sql`
    create table deliveries (
      delivery_id bigint generated always as identity primary key,
      reaction text not null,
      dedupe_key text not null unique,
      payload jsonb not null,
      attempts integer not null default 0,
      due_at timestamptz not null,
      leased_until timestamptz,
      parked_at timestamptz,
      last_error text,
      created_at timestamptz not null
    )`.execute(db);
  await sql`create index deliveries_by_due on deliveries (due_at) where parked_at is null`.execute(db);
}
