import { sql, type Kysely } from 'kysely';

/** Endpoints of other systems, the messages for them, which are written with their events, and the attempts to deliver them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table webhooks (
      company_id bigint not null references companies on delete cascade,
      webhook_id bigint generated always as identity,
      url text not null,
      description text,
      events text[] not null,
      sealed_secret bytea not null,
      sealed_previous_secret bytea,
      previous_secret_until timestamptz,
      is_enabled boolean not null default true,
      disabled_because text check (disabled_because in ('gone', 'failing')),
      failing_since timestamptz,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      primary key (company_id, webhook_id)
    )`.execute(db);

  await sql`
    create table webhook_messages (
      company_id bigint not null,
      message_id bigint generated always as identity,
      webhook_id bigint not null,
      public_id text not null default 'msg_' || replace(gen_random_uuid()::text, '-', ''),
      type text not null,
      stream text,
      sequence bigint,
      payload jsonb not null,
      at timestamptz not null,
      state text not null default 'pending' check (state in ('pending', 'delivered', 'failed')),
      attempts integer not null default 0,
      due_at timestamptz not null,
      leased_until timestamptz,
      primary key (company_id, message_id),
      foreign key (company_id, webhook_id) references webhooks on delete cascade
    )`.execute(db);
  // Claims walk from endpoint to endpoint in the first of these; the third begins otherwise, so that no plan takes it for that.
  await sql`
    create index webhook_messages_pending on webhook_messages (company_id, webhook_id, due_at, message_id)
    where state = 'pending'`.execute(db);
  await sql`
    create index webhook_messages_leased on webhook_messages (company_id, webhook_id) where leased_until is not null`.execute(
    db,
  );
  await sql`create index webhook_messages_by_webhook on webhook_messages (webhook_id, message_id)`.execute(db);
  await sql`create index webhook_messages_by_age on webhook_messages (at)`.execute(db);

  await sql`
    create table webhook_attempts (
      company_id bigint not null,
      message_id bigint not null,
      attempt_id bigint generated always as identity,
      at timestamptz not null,
      duration_ms integer not null,
      status integer,
      error text,
      answer text,
      primary key (company_id, message_id, attempt_id),
      foreign key (company_id, message_id) references webhook_messages on delete cascade
    )`.execute(db);
  await sql`create index webhook_attempts_by_age on webhook_attempts (at)`.execute(db);
}
