import { sql, type Kysely } from 'kysely';

/**
 * Only the owner of an address joins an account to an employee: until then the employee is invited and has no account.
 * Sessions that an API key opened belong to an employee and to no account.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table employees alter column account_id drop not null`.execute(db);

  // An employee has one open invitation at most. `token_hash` is that of the link that was mailed last.
  await sql`
    create table invitations (
      company_id bigint not null,
      invitation_id bigint generated always as identity,
      employee_id bigint not null,
      email text not null check (email = lower(email)),
      invited_by_id bigint,
      token_hash text,
      mailed_at timestamptz,
      created_at timestamptz not null,
      ended_at timestamptz,
      outcome text check (outcome in ('accepted', 'declined', 'withdrawn')),
      primary key (company_id, invitation_id),
      foreign key (company_id, employee_id) references employees on delete cascade,
      foreign key (company_id, invited_by_id) references employees (company_id, employee_id),
      check ((ended_at is null) = (outcome is null))
    )`.execute(db);
  await sql`
    create unique index invitations_open on invitations (company_id, employee_id) where ended_at is null`.execute(db);
  await sql`create index invitations_by_address on invitations (email) where ended_at is null`.execute(db);
  await sql`create index invitations_mailed on invitations (company_id, mailed_at)`.execute(db);

  await sql`
    alter table sessions
      alter column account_id drop not null,
      add column opened_by_key_id bigint,
      add column address_proved_at timestamptz,
      add foreign key (company_id, opened_by_key_id) references api_keys on delete cascade,
      add check ((account_id is null) = (opened_by_key_id is not null))`.execute(db);
  await sql`
    create index sessions_by_key on sessions (company_id, opened_by_key_id)
    where ended_at is null and opened_by_key_id is not null`.execute(db);
  await sql`alter table one_time_tokens add column address_proved_at timestamptz`.execute(db);

  // Who was told that a key signed them in.
  await sql`
    create table api_key_sign_ins (
      company_id bigint not null,
      api_key_id bigint not null,
      employee_id bigint not null,
      first_at timestamptz not null,
      primary key (company_id, api_key_id, employee_id),
      foreign key (company_id, api_key_id) references api_keys on delete cascade,
      foreign key (company_id, employee_id) references employees on delete cascade
    )`.execute(db);

  await unlinkUnproved(db);
  await renameWaitingMails(db);
}

/** Memberships of proved accounts count as accepted. Others wait for the owner of the address, with nothing left open. */
async function unlinkUnproved(db: Kysely<unknown>): Promise<void> {
  await sql`
    update employees as e set account_id = null
    from accounts as a
    where a.account_id = e.account_id and (a.email_verified_at is null or a.email <> e.email)`.execute(db);
  await sql`
    insert into invitations (company_id, employee_id, email, created_at)
    select company_id, employee_id, email, now() from employees where account_id is null`.execute(db);
  await sql`
    update api_keys as k set revoked_at = now()
    from employees as e
    where e.company_id = k.company_id and e.employee_id = k.employee_id and e.account_id is null
      and k.revoked_at is null`.execute(db);
  // A session of before does not say whether a key opened it, so those that may be are ended.
  await sql`
    update sessions as s set ended_at = now(), ended_because = 'accounts and companies were told apart'
    from employees as e
    where e.company_id = s.company_id and e.employee_id = s.employee_id and s.ended_at is null
      and (e.account_id is null or (s.method = 'token' and exists (
        select from api_keys as k where k.company_id = s.company_id and 'login' = any(k.scopes))))`.execute(db);
}

/** Invitations that wait to be mailed name the invitation now; those of proved accounts have nothing left to say. */
async function renameWaitingMails(db: Kysely<unknown>): Promise<void> {
  await sql`
    update deliveries as d
    set payload = jsonb_build_object('companyId', i.company_id, 'invitationId', i.invitation_id)
    from invitations as i
    where d.reaction = 'send-invitation' and i.company_id = (d.payload ->> 'companyId')::bigint
      and i.employee_id = (d.payload ->> 'employeeId')::bigint`.execute(db);
  await sql`
    delete from deliveries where reaction = 'send-invitation' and not payload ? 'invitationId'`.execute(db);
}
