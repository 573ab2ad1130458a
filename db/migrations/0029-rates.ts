import { sql, type Kysely } from 'kysely';

/** What an hour of work costs, what projects may cost, and what logged time is charged at. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // An hourly rate of a task, of a project and an employee, of a project, of an employee, or of the company, from a day on
  // until the next one of the same. Without an amount it ends the one before. Amounts are in minor units of the currency.
  await sql`
    create table rates (
      company_id bigint not null references companies on delete cascade,
      rate_id bigint generated always as identity,
      task_id bigint,
      project_id bigint,
      employee_id bigint,
      valid_from date not null,
      minor_units bigint check (minor_units >= 0),
      currency text,
      created_at timestamptz not null,
      primary key (company_id, rate_id),
      foreign key (company_id, task_id) references tasks on delete cascade,
      foreign key (company_id, project_id) references projects on delete cascade,
      foreign key (company_id, employee_id) references employees on delete cascade,
      check (task_id is null or (project_id is null and employee_id is null)),
      check ((minor_units is null) = (currency is null))
    )`.execute(db);
  await sql`
    create unique index rates_by_subject on rates (
      company_id, coalesce(task_id, 0), coalesce(project_id, 0), coalesce(employee_id, 0), valid_from
    )`.execute(db);

  // The rate is that of the day on which the log starts, found when it is stored. Null without a rate, and where the log is not billable.
  await sql`
    alter table task_logs
      add column billable boolean not null default true,
      add column rate_minor_units bigint,
      add column currency text`.execute(db);
  await sql`
    alter table projects
      add column billable boolean not null default true,
      add column budget_minor_units bigint,
      add column budget_currency text`.execute(db);

  // What the logs of a project amount to: see db/derived/amounts.ts.
  await sql`
    create table project_amounts (
      company_id bigint not null,
      project_id bigint not null,
      currency text not null,
      minor_units bigint not null,
      primary key (company_id, project_id, currency),
      foreign key (company_id, project_id) references projects on delete cascade
    )`.execute(db);
}
