import { sql, type Kysely } from 'kysely';

/** Files with all data of a company or of a person, which are kept for a day. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // An export is complete where it has `finished_at`: then its file is the parts of `run`, and not before.
  await sql`
    create table exports (
      company_id bigint not null references companies on delete cascade,
      export_id bigint generated always as identity,
      employee_id bigint,
      requested_by_id bigint not null,
      rows_total bigint,
      rows_done bigint not null default 0,
      run uuid,
      byte_count bigint,
      sha256 text,
      created_at timestamptz not null,
      started_at timestamptz,
      finished_at timestamptz,
      expires_at timestamptz not null,
      primary key (company_id, export_id),
      foreign key (company_id, employee_id) references employees on delete cascade,
      foreign key (company_id, requested_by_id) references employees on delete cascade,
      check ((finished_at is null) = (run is null) and (run is null) = (byte_count is null))
    )`.execute(db);
  // A company makes one at a time.
  await sql`create unique index exports_unfinished on exports (company_id) where finished_at is null`.execute(db);
  await sql`create index exports_by_end on exports (expires_at)`.execute(db);

  await sql`
    create table export_parts (
      company_id bigint not null,
      export_id bigint not null,
      run uuid not null,
      part integer not null,
      content bytea not null,
      primary key (company_id, export_id, run, part),
      foreign key (company_id, export_id) references exports on delete cascade
    )`.execute(db);
  // It is compressed already.
  await sql`alter table export_parts alter column content set storage external`.execute(db);
}
