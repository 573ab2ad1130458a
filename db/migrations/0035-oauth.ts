import { sql, type Kysely } from 'kysely';

/** What a client was granted by OAuth is an API key of the employee who granted it, which the client renews. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // The hash of such a key is that of its access token. Before the code is exchanged there is none.
  await sql`alter table api_keys add column client_id text, add column access_expires_at timestamptz`.execute(db);

  // Clients that have registered themselves, and what documents of others say, until they are fetched again.
  await sql`
    create table oauth_clients (
      client_id text primary key,
      name text not null,
      redirect_uris text[] not null,
      created_at timestamptz not null,
      expires_at timestamptz not null
    )`.execute(db);

  await sql`
    create table oauth_grants (
      company_id bigint not null,
      api_key_id bigint not null,
      code_hash text not null,
      code_expires_at timestamptz not null,
      code_used_at timestamptz,
      redirect_uri text not null,
      code_challenge text not null,
      family_hash text,
      refresh_hash text,
      previous_refresh_hash text,
      rotated_at timestamptz,
      primary key (company_id, api_key_id),
      foreign key (company_id, api_key_id) references api_keys on delete cascade
    )`.execute(db);
  await sql`create index oauth_grants_by_code on oauth_grants (code_hash)`.execute(db);
  await sql`create index oauth_grants_by_family on oauth_grants (family_hash)`.execute(db);
}
