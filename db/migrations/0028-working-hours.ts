import { sql, type Kysely } from 'kysely';

/** What work is expected of an employee, the holidays of a company, and mornings that remind of the end of a period. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // Minutes from Monday to Sunday, from a day on until the next row of the employee. Before the first row the time policy holds.
  await sql`
    create table working_hours (
      company_id bigint not null,
      employee_id bigint not null,
      valid_from date not null,
      minutes integer[] not null check (cardinality(minutes) = 7),
      primary key (company_id, employee_id, valid_from),
      foreign key (company_id, employee_id) references employees on delete cascade
    )`.execute(db);

  await sql`
    create table holidays (
      company_id bigint not null references companies on delete cascade,
      day date not null,
      name text not null,
      primary key (company_id, day)
    )`.execute(db);

  await sql`
    alter table company_mornings
      drop constraint company_mornings_step_check,
      add constraint company_mornings_step_check check (step in ('due_tomorrow', 'overdue', 'trial', 'period_end', 'done'))`.execute(
    db,
  );
}
