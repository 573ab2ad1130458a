import { sql, type Kysely } from 'kysely';

/** When time is handed in and locked, by company, and the periods that employees have handed in. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // A company without a row has no locks: db/derived/period-locks.ts looks here first.
  await sql`
    create table time_policies (
      company_id bigint primary key references companies on delete cascade,
      period text not null check (period in ('week', 'month')),
      week_start integer not null check (week_start between 1 and 7),
      lock_after_days integer check (lock_after_days >= 0),
      grace_days integer not null check (grace_days >= 0),
      approver text not null check (approver in ('teamLeader', 'admin')),
      require_approval boolean not null,
      expected_minutes integer[] not null check (cardinality(expected_minutes) = 7)
    )`.execute(db);

  await sql`
    create table timesheet_periods (
      company_id bigint not null,
      employee_id bigint not null,
      first_day date not null,
      last_day date not null check (last_day between first_day and first_day + 30),
      period_id bigint generated always as identity,
      state text not null check (state in ('open', 'submitted', 'approved', 'rejected')),
      submitted_by_id bigint not null,
      submitted_at timestamptz not null,
      decided_by_id bigint,
      decided_at timestamptz,
      note text,
      expected_minutes integer not null,
      snapshot jsonb not null,
      primary key (company_id, employee_id, first_day),
      unique (company_id, period_id),
      foreign key (company_id, employee_id) references employees on delete cascade
    )`.execute(db);
  await sql`create index timesheet_periods_by_day on timesheet_periods (company_id, first_day, period_id)`.execute(db);
}
