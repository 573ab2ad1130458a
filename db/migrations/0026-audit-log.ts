import { sql, type Kysely } from 'kysely';

/**
 * The audit log and its seals, which the database lets nobody change: see server/audit/seal.ts. Neither refers to other tables:
 * a row outlives what it tells of, and no writer of a company waits for another.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  // Added to the transaction identifiers of this server, so that those of a restored database go on behind all stored ones.
  await sql`
    create table audit_clock (
      xid_offset bigint not null default 0,
      only_row boolean primary key default true check (only_row)
    )`.execute(db);
  await sql`insert into audit_clock default values`.execute(db);
  // Company 0 has what concerns no company. The key is the one index: sealing, verification and the pages of the list go by it.
  await sql`
    create table audit_log (
      company_id bigint not null,
      xid bigint not null,
      audit_id bigint generated always as identity,
      at timestamptz not null default clock_timestamp(),
      account_id bigint,
      employee_id bigint,
      api_key_id bigint,
      session_id bigint,
      network text,
      request_id text,
      transport text not null,
      operation text not null,
      subject_kind text,
      subject_id bigint,
      changes jsonb not null,
      result text not null,
      error_code text,
      times integer not null default 1,
      primary key (company_id, xid, audit_id)
    )`.execute(db);
  await sql`
    create table audit_seals (
      company_id bigint not null,
      seal_id bigint not null,
      from_xid bigint not null,
      to_xid bigint not null,
      row_count integer not null,
      entries bytea not null,
      statement text not null,
      sealed_at timestamptz not null default clock_timestamp(),
      primary key (company_id, seal_id)
    )`.execute(db);
  await refuseChanges(db);
  await sql.raw(deleteSealed).execute(db);
}

async function refuseChanges(db: Kysely<unknown>): Promise<void> {
  // Stops mistakes, and statements that somebody smuggles in. The owner of the tables can remove it: seals tell of that.
  await sql`
    create function refuse_audit_change() returns trigger language plpgsql as $$
    begin
      if tg_op = 'DELETE' and current_setting('app.audit_retention', true) = pg_current_xact_id()::text then
        return old;
      end if;
      raise exception '% is only ever added to', tg_table_name using errcode = 'insufficient_privilege';
    end $$`.execute(db);
  for (const table of ['audit_log', 'audit_seals'].map((name) => sql.table(name))) {
    await sql`
      create trigger added_only before update or delete on ${table}
      for each row execute function refuse_audit_change()`.execute(db);
    await sql`
      create trigger never_emptied before truncate on ${table}
      for each statement execute function refuse_audit_change()`.execute(db);
  }
}

/**
 * Deletes the oldest seals of a company with their rows, as many as were sealed before a moment, but never the newest seal. It
 * runs as the owner of the tables, because the roles of row-level security may only add.
 */
const deleteSealed = `
  create function delete_sealed_audit(company bigint, sealed_before timestamptz, seals_max integer)
  returns table (first_seal bigint, last_seal bigint, deleted_rows bigint, last_statement text)
  language plpgsql security definer set search_path = pg_catalog, public as $$
  declare last_xid bigint;
  begin
    select min(o.seal_id), max(o.seal_id) filter (where o.sealed_at < sealed_before) into first_seal, last_seal
    from (
      select s.seal_id, s.sealed_at from public.audit_seals as s where s.company_id = company
      order by s.seal_id limit seals_max
    ) as o
    where o.seal_id < (select max(n.seal_id) from public.audit_seals as n where n.company_id = company);
    if last_seal is null then return; end if;
    select s.to_xid, s.statement into last_xid, last_statement
    from public.audit_seals as s where s.company_id = company and s.seal_id = last_seal;
    perform set_config('app.audit_retention', pg_current_xact_id()::text, true);
    delete from public.audit_log as a where a.company_id = company and a.xid < last_xid;
    get diagnostics deleted_rows = row_count;
    delete from public.audit_seals as s where s.company_id = company and s.seal_id <= last_seal;
    perform set_config('app.audit_retention', '', true);
    return next;
  end $$`;
