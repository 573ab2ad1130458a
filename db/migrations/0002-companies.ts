import { sql, type Kysely } from 'kysely';

/** Companies, the people in them, their sessions and keys, and what a company is set up with when it registers. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create extension if not exists pg_trgm`.execute(db);
  await sql`create extension if not exists btree_gin`.execute(db);

  await sql`
    create table companies (
      company_id bigint generated always as identity primary key,
      name text not null,
      timezone text not null,
      owner_id bigint,
      referral_code text,
      created_at timestamptz not null,
      updated_at timestamptz not null
    )`.execute(db);

  await sql`
    create table pictures (
      company_id bigint not null references companies on delete cascade,
      picture_id uuid not null,
      content_type text not null,
      content bytea not null,
      created_at timestamptz not null,
      primary key (company_id, picture_id)
    )`.execute(db);

  // `search_text` holds name, e-mail and designation, folded for search and led by a space,
  // so that '% an%' finds beginnings of words through the trigram index even for one letter.
  await sql`
    create table employees (
      company_id bigint not null references companies on delete cascade,
      employee_id bigint generated always as identity,
      account_id bigint not null references accounts,
      email text not null check (email = lower(email)),
      first_name text not null,
      last_name text not null,
      own_name text,
      name text not null generated always as (coalesce(own_name, btrim(first_name || ' ' || last_name))) stored,
      phone text,
      designation text,
      salary numeric(14, 2),
      is_admin boolean not null default false,
      is_team_leader boolean not null default false,
      is_active boolean not null default true,
      is_deleted boolean not null default false,
      date_of_birth date,
      date_of_joining date,
      gender text,
      country_code text,
      picture_id uuid,
      search_text text not null,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      primary key (company_id, employee_id),
      unique (company_id, account_id),
      unique (company_id, email),
      foreign key (company_id, picture_id) references pictures,
      check (not (is_deleted and is_active))
    )`.execute(db);
  await sql`create index employees_by_account on employees (account_id)`.execute(db);
  // People are looked for far more often than added, and the embedded database vacuums no pending entries away.
  await sql`
    create index employees_by_search on employees using gin (company_id, search_text gin_trgm_ops)
    with (fastupdate = off)`.execute(db);
  await sql`
    create index employees_by_active_admin on employees (company_id)
    where is_admin and is_active and not is_deleted`.execute(db);
  await sql`
    alter table companies add constraint companies_owner_fkey
    foreign key (company_id, owner_id) references employees (company_id, employee_id)`.execute(db);

  // `refresh_generation` counts rotations: only the refresh token that carries the current number is alive.
  await sql`
    create table sessions (
      session_id bigint generated always as identity primary key,
      account_id bigint not null references accounts on delete cascade,
      company_id bigint,
      employee_id bigint,
      method text not null,
      refresh_generation integer not null default 1,
      rotated_at timestamptz not null,
      expires_at timestamptz not null,
      user_agent text,
      network text,
      created_at timestamptz not null,
      last_used_at timestamptz not null,
      ended_at timestamptz,
      ended_because text,
      foreign key (company_id, employee_id) references employees on delete cascade
    )`.execute(db);
  await sql`create index sessions_by_account on sessions (account_id) where ended_at is null`.execute(db);
  await sql`create index sessions_by_employee on sessions (company_id, employee_id) where ended_at is null`.execute(db);

  await sql`
    create table api_keys (
      company_id bigint not null,
      api_key_id bigint generated always as identity,
      employee_id bigint not null,
      name text not null,
      key_hash text not null,
      key_start text not null,
      scopes text[] not null,
      expires_at timestamptz,
      last_used_at timestamptz,
      revoked_at timestamptz,
      created_at timestamptz not null,
      primary key (company_id, api_key_id),
      foreign key (company_id, employee_id) references employees on delete cascade
    )`.execute(db);
  await sql`create index api_keys_by_hash on api_keys (key_hash)`.execute(db);

  await sql`
    create table plans (
      plan_id bigint generated always as identity primary key,
      code text not null unique,
      name text not null,
      price_per_month numeric(10, 2) not null,
      currency text not null,
      max_employees integer,
      storage_bytes bigint not null,
      rank integer not null unique
    )`.execute(db);
  await sql`
    insert into plans (code, name, price_per_month, currency, max_employees, storage_bytes, rank) values
      ('starter', 'Starter', 0, 'USD', 10, 1073741824, 1),
      ('team', 'Team', 49, 'USD', 50, 53687091200, 2),
      ('business', 'Business', 199, 'USD', 500, 536870912000, 3),
      ('enterprise', 'Enterprise', 799, 'USD', null, 5497558138880, 4)`.execute(db);

  await sql`
    create table subscriptions (
      company_id bigint not null references companies on delete cascade,
      subscription_id bigint generated always as identity,
      plan_id bigint not null references plans,
      status text not null check (status in ('trialing', 'active', 'past_due', 'cancelled', 'expired')),
      trial boolean not null,
      starts_at timestamptz not null,
      ends_at timestamptz,
      created_at timestamptz not null,
      primary key (company_id, subscription_id)
    )`.execute(db);

  await sql`
    create table payments (
      company_id bigint not null,
      payment_id bigint generated always as identity,
      subscription_id bigint not null,
      amount numeric(12, 2) not null,
      currency text not null,
      status text not null check (status in ('pending', 'paid', 'failed', 'refunded')),
      paid_at timestamptz,
      created_at timestamptz not null,
      primary key (company_id, payment_id),
      foreign key (company_id, subscription_id) references subscriptions on delete cascade
    )`.execute(db);
  await sql`create index payments_by_time on payments (company_id, paid_at desc)`.execute(db);

  // Weekdays are ISO numbers: 1 is Monday.
  await sql`
    create table schedules (
      company_id bigint not null references companies on delete cascade,
      schedule_id bigint generated always as identity,
      name text not null,
      is_default boolean not null,
      weekdays integer[] not null,
      starts_at time not null,
      ends_at time not null,
      created_at timestamptz not null,
      primary key (company_id, schedule_id)
    )`.execute(db);

  await sql`
    create table workspaces (
      company_id bigint not null references companies on delete cascade,
      workspace_id bigint generated always as identity,
      name text not null,
      is_default boolean not null,
      created_at timestamptz not null,
      primary key (company_id, workspace_id)
    )`.execute(db);

  await sql`
    create table storages (
      company_id bigint primary key references companies on delete cascade,
      bytes_used bigint not null default 0,
      bytes_max bigint not null,
      created_at timestamptz not null
    )`.execute(db);

  // What the people of a company are told by default; a row of notification_preferences overrules it for one person.
  await sql`
    create table notification_setups (
      company_id bigint not null references companies on delete cascade,
      category text not null,
      in_app boolean not null,
      email boolean not null,
      primary key (company_id, category)
    )`.execute(db);
  await sql`
    create table notification_preferences (
      company_id bigint not null,
      employee_id bigint not null,
      category text not null,
      in_app boolean not null,
      email boolean not null,
      updated_at timestamptz not null,
      primary key (company_id, employee_id, category),
      foreign key (company_id, employee_id) references employees on delete cascade
    )`.execute(db);
}
