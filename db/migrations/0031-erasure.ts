import { sql, type Kysely } from 'kysely';

/** The erasure of a person, the end of a company, and what proves both in the audit log. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table employees add column erased_at timestamptz`.execute(db);
  // A closed company is only read until `closes_at`. Then it is removed, in many transactions that begin with `removal_began_at`.
  await sql`
    alter table companies
      add column closed_at timestamptz,
      add column closes_at timestamptz,
      add column closed_by_id bigint,
      add column removal_began_at timestamptz,
      add check ((closed_at is null) = (closes_at is null))`.execute(db);
  await sql`create index companies_by_end on companies (closes_at) where closes_at is not null`.execute(db);
  // Not `company_id`: a request finds its stored answer before its caller's company is looked at.
  await sql`alter table idempotent_answers add column of_company bigint`.execute(db);
  await sql`
    create index idempotent_answers_by_company on idempotent_answers (of_company) where of_company is not null`.execute(
    db,
  );

  // What the service states of rows of the audit log whose personal data it has erased: see server/features/audit/erasures.ts.
  await sql`
    create table audit_erasures (
      company_id bigint not null,
      erasure_id bigint generated always as identity,
      statement text not null,
      erased_at timestamptz not null default clock_timestamp(),
      primary key (company_id, erasure_id)
    )`.execute(db);
  await sql`alter table audit_seals add column erasures_to bigint`.execute(db);
  await guard(db);
  await sql.raw(eraseRows).execute(db);
  await sql.raw(deleteOfCompany).execute(db);
}

async function guard(db: Kysely<unknown>): Promise<void> {
  // As in 0026-audit-log, and lets the functions below through.
  await sql`
    create or replace function refuse_audit_change() returns trigger language plpgsql as $$
    begin
      if tg_op = 'DELETE' and current_setting('app.audit_retention', true) = pg_current_xact_id()::text then
        return old;
      end if;
      if tg_op = 'UPDATE' and current_setting('app.audit_erasure', true) = pg_current_xact_id()::text then
        return new;
      end if;
      raise exception '% is only ever added to', tg_table_name using errcode = 'insufficient_privilege';
    end $$`.execute(db);
  await sql`
    create trigger added_only before update or delete on audit_erasures
    for each row execute function refuse_audit_change()`.execute(db);
  await sql`
    create trigger never_emptied before truncate on audit_erasures
    for each statement execute function refuse_audit_change()`.execute(db);
}

/** Replaces the changes of rows, and of some of them where they came from. It runs as the owner of the tables. */
const eraseRows = `
  create function erase_audit_rows(company bigint, xids bigint[], ids bigint[], changed text[], origins boolean[])
  returns void language plpgsql security definer set search_path = pg_catalog, public as $$
  begin
    perform set_config('app.audit_erasure', pg_current_xact_id()::text, true);
    update public.audit_log as a set
      changes = g.changes::jsonb,
      network = case when g.origin then null else a.network end,
      request_id = case when g.origin then null else a.request_id end
    from unnest(xids, ids, changed, origins) as g (xid, id, changes, origin)
    where a.company_id = company and a.xid = g.xid and a.audit_id = g.id;
    perform set_config('app.audit_erasure', '', true);
  end $$`;

/** Deletes some rows of the log of a company that is being removed, the seals after the last one. It runs as the owner. */
const deleteOfCompany = `
  create function delete_audit_of_removed(company bigint, rows_max integer)
  returns bigint language plpgsql security definer set search_path = pg_catalog, public as $$
  declare deleted bigint;
  begin
    if not exists (select from public.companies as c where c.company_id = company) then
      return 0;
    end if;
    if exists (select from public.companies as c where c.company_id = company and c.removal_began_at is null) then
      raise exception 'company % is not being removed', company using errcode = 'insufficient_privilege';
    end if;
    perform set_config('app.audit_retention', pg_current_xact_id()::text, true);
    delete from public.audit_log as a where a.company_id = company and (a.xid, a.audit_id) in (
      select o.xid, o.audit_id from public.audit_log as o where o.company_id = company order by o.xid, o.audit_id limit rows_max
    );
    get diagnostics deleted = row_count;
    if deleted = 0 then
      delete from public.audit_seals as s where s.company_id = company and s.seal_id in (
        select o.seal_id from public.audit_seals as o where o.company_id = company order by o.seal_id limit rows_max
      );
      get diagnostics deleted = row_count;
    end if;
    if deleted = 0 then
      delete from public.audit_erasures as e where e.company_id = company and e.erasure_id in (
        select o.erasure_id from public.audit_erasures as o where o.company_id = company order by o.erasure_id limit rows_max
      );
      get diagnostics deleted = row_count;
    end if;
    perform set_config('app.audit_retention', '', true);
    return deleted;
  end $$`;
