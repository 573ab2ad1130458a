import { sql, type Kysely } from 'kysely';

/** What companies are told in the morning: tasks that are due tomorrow, tasks that became overdue, a trial that ends. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // One row for each local day on which a company has something to be told. Its position moves on in the transaction of
  // each batch, so a process that is killed loses nothing and repeats nothing.
  await sql`
    create table company_mornings (
      company_id bigint not null references companies on delete cascade,
      day date not null,
      step text not null default 'due_tomorrow' check (step in ('due_tomorrow', 'overdue', 'trial', 'done')),
      after_task_id bigint not null default 0,
      after_employee_id bigint not null default 0,
      created_at timestamptz not null,
      primary key (company_id, day)
    )`.execute(db);
  await sql`create index company_mornings_by_age on company_mornings (created_at)`.execute(db);

  // Its only row says up to which moment mornings have been looked for, by whichever node.
  await sql`
    create table morning_rounds (
      planned_until timestamptz not null,
      only_row boolean primary key default true check (only_row)
    )`.execute(db);
  await sql`insert into morning_rounds (planned_until) values (now())`.execute(db);

  // The same index in the order of tasks within a day, so that a batch begins where the last one ended.
  await sql`
    create index tasks_open_by_due_day on tasks (company_id, due_date, task_id) include (owner_id, project_id)
    where deleted_at is null and status <> 'done' and due_date is not null`.execute(db);
  await sql`drop index tasks_open_by_due_date`.execute(db);
}
