import { sql, type Kysely } from 'kysely';

/** Who signs in: accounts, what proves them, and what a sign-in leaves behind. None of these belongs to a company. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table accounts (
      account_id bigint generated always as identity primary key,
      email text not null unique check (email = lower(email)),
      email_verified_at timestamptz,
      password_hash text,
      created_at timestamptz not null,
      updated_at timestamptz not null
    )`.execute(db);

  await sql`
    create table identities (
      issuer text not null,
      subject text not null,
      account_id bigint not null references accounts on delete cascade,
      email text,
      created_at timestamptz not null,
      primary key (issuer, subject)
    )`.execute(db);
  await sql`create index identities_by_account on identities (account_id)`.execute(db);

  // One live code per address and purpose: a new one replaces the old one by its key.
  await sql`
    create table one_time_codes (
      email text not null,
      purpose text not null check (purpose in ('login', 'registration')),
      code_hash text not null,
      wrong_tries integer not null default 0,
      created_at timestamptz not null,
      expires_at timestamptz not null,
      used_at timestamptz,
      primary key (email, purpose)
    )`.execute(db);

  await sql`
    create table one_time_tokens (
      token_hash text primary key,
      purpose text not null check (purpose in ('login_ticket', 'password_reset')),
      account_id bigint not null references accounts on delete cascade,
      created_at timestamptz not null,
      expires_at timestamptz not null,
      used_at timestamptz
    )`.execute(db);
  await sql`create index one_time_tokens_by_account on one_time_tokens (account_id)`.execute(db);

  // The answer of a write that carried an Idempotency-Key, sealed with a key made from that header.
  await sql`
    create table idempotent_answers (
      key_hash text primary key,
      operation text not null,
      input_hash text not null,
      sealed_answer bytea not null,
      created_at timestamptz not null
    )`.execute(db);
  await sql`create index idempotent_answers_by_age on idempotent_answers (created_at)`.execute(db);
}
