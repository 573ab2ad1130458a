import { sql, type Kysely } from 'kysely';

/** Projects, tasks and the time that people log on them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // `logged_seconds` is kept as logs change; `is_exceeded` holds while it is above the allocation,
  // so that of all requests that cross it exactly one sees it turn.
  await sql`
    create table projects (
      company_id bigint not null references companies on delete cascade,
      project_id bigint generated always as identity,
      name text not null,
      description text,
      owner_id bigint not null,
      allocated_hours numeric(10, 2),
      logged_seconds bigint not null default 0,
      is_exceeded boolean not null default false,
      status text not null default 'active' check (status in ('active', 'on_hold', 'completed', 'archived')),
      created_at timestamptz not null,
      updated_at timestamptz not null,
      deleted_at timestamptz,
      primary key (company_id, project_id),
      foreign key (company_id, owner_id) references employees
    )`.execute(db);

  await sql`
    create table tasks (
      company_id bigint not null,
      task_id bigint generated always as identity,
      project_id bigint not null,
      title text not null,
      description text,
      status text not null default 'todo' check (status in ('todo', 'in_progress', 'in_review', 'done')),
      owner_id bigint not null,
      due_date date,
      estimated_hours numeric(10, 2),
      completed_at timestamptz,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      deleted_at timestamptz,
      primary key (company_id, task_id),
      foreign key (company_id, project_id) references projects,
      foreign key (company_id, owner_id) references employees
    )`.execute(db);
  await sql`create index tasks_by_project on tasks (company_id, project_id, task_id) where deleted_at is null`.execute(
    db,
  );
  await sql`create index tasks_by_owner on tasks (company_id, owner_id, task_id) where deleted_at is null`.execute(db);
  await sql`create index tasks_by_status on tasks (company_id, status, task_id) where deleted_at is null`.execute(db);
  await sql`create index tasks_by_title on tasks using gin (company_id, lower(title) gin_trgm_ops)`.execute(db);

  await sql`
    create table task_collaborators (
      company_id bigint not null,
      task_id bigint not null,
      employee_id bigint not null,
      primary key (company_id, task_id, employee_id),
      foreign key (company_id, task_id) references tasks on delete cascade,
      foreign key (company_id, employee_id) references employees on delete cascade
    )`.execute(db);

  await sql`
    create table task_logs (
      company_id bigint not null,
      task_log_id bigint generated always as identity,
      task_id bigint not null,
      employee_id bigint not null,
      project_id bigint not null,
      start_time timestamptz not null,
      end_time timestamptz not null,
      duration_seconds integer not null generated always as (extract(epoch from end_time - start_time)::integer) stored,
      description text,
      manual_add boolean not null,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      primary key (company_id, task_log_id),
      constraint task_logs_duplicate unique (company_id, task_id, employee_id, start_time),
      foreign key (company_id, task_id) references tasks,
      foreign key (company_id, employee_id) references employees,
      foreign key (company_id, project_id) references projects,
      check (end_time > start_time)
    )`.execute(db);
  await sql`create index task_logs_by_task on task_logs (company_id, task_id, start_time desc, task_log_id desc)`.execute(
    db,
  );
  await sql`create index task_logs_by_employee on task_logs (company_id, employee_id, start_time)`.execute(db);
  await sql`create index task_logs_by_project on task_logs (company_id, project_id, start_time)`.execute(db);

  await sql`
    create table timers (
      company_id bigint not null,
      employee_id bigint not null,
      task_id bigint not null,
      start_time timestamptz not null,
      description text,
      primary key (company_id, employee_id),
      foreign key (company_id, employee_id) references employees on delete cascade,
      foreign key (company_id, task_id) references tasks on delete cascade
    )`.execute(db);

  // Working time of one person on one local day of the company, overlaps counted once.
  await sql`
    create table work_days (
      company_id bigint not null,
      employee_id bigint not null,
      day date not null,
      working_seconds integer not null,
      primary key (company_id, employee_id, day),
      foreign key (company_id, employee_id) references employees on delete cascade
    )`.execute(db);
  await sql`create index work_days_by_day on work_days (company_id, day)`.execute(db);
}
