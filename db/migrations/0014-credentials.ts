import { sql, type Kysely } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  // Sessions end 90 days after the sign-in that they come from, however often they are renewed.
  await sql`alter table sessions add column signed_in_at timestamptz not null default now()`.execute(db);
  await sql`
    update sessions
    set signed_in_at = created_at, expires_at = least(expires_at, created_at + interval '90 days')`.execute(db);

  // Identity tokens that have signed somebody in, until they expire; with the login ticket that one was answered with.
  await sql`
    create table used_identity_tokens (
      token_hash text primary key,
      expires_at timestamptz not null,
      ticket_hash text
    )`.execute(db);
  await sql`create index used_identity_tokens_by_expiry on used_identity_tokens (expires_at)`.execute(db);

  // From what kind of device and network an account signed in lately.
  await sql`
    create table account_devices (
      account_id bigint not null references accounts on delete cascade,
      device text not null,
      network text not null,
      last_seen_at timestamptz not null,
      primary key (account_id, device, network)
    )`.execute(db);
  await sql`create index account_devices_by_age on account_devices (last_seen_at)`.execute(db);

  // Apple subjects that registrations claim, until an Apple login proves one.
  await sql`
    create table apple_claims (
      subject text not null,
      account_id bigint not null references accounts on delete cascade,
      created_at timestamptz not null,
      expires_at timestamptz not null,
      primary key (subject, account_id)
    )`.execute(db);
  await sql`create index apple_claims_by_account on apple_claims (account_id)`.execute(db);
}
