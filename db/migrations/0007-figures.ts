import { sql, type Kysely } from 'kysely';

/** Counts that are kept as tasks and comments change, so that figures cost the same however much there is. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // By project, for tasks go with their project when that is deleted: then its rows are left out, and nothing is counted.
  // `done_on_time` counts days in the company's time zone and is counted anew when that changes.
  await sql`
    create table task_counts (
      company_id bigint not null,
      project_id bigint not null,
      owner_id bigint not null,
      todo integer not null,
      in_progress integer not null,
      in_review integer not null,
      done integer not null,
      done_with_due_date integer not null,
      done_on_time integer not null,
      primary key (company_id, project_id, owner_id),
      foreign key (company_id, project_id) references projects,
      foreign key (company_id, owner_id) references employees
    )`.execute(db);
  await sql`
    insert into task_counts
    select t.company_id, t.project_id, t.owner_id,
      count(*) filter (where t.status = 'todo'),
      count(*) filter (where t.status = 'in_progress'),
      count(*) filter (where t.status = 'in_review'),
      count(*) filter (where t.status = 'done'),
      count(*) filter (where t.status = 'done' and t.due_date is not null),
      count(*) filter (where t.status = 'done' and local_day(t.completed_at, c.timezone) <= t.due_date)
    from tasks as t join companies as c using (company_id)
    where t.deleted_at is null
    group by t.company_id, t.project_id, t.owner_id`.execute(db);
  await sql`create index task_counts_by_owner on task_counts (company_id, owner_id)`.execute(db);

  // Only what is open and due is in it: what is overdue is its first part.
  await sql`
    create index tasks_open_by_due_date on tasks (company_id, due_date) include (owner_id, project_id)
    where deleted_at is null and status <> 'done' and due_date is not null`.execute(db);
  await sql`
    create index tasks_by_completion on tasks (company_id, completed_at) include (project_id)
    where deleted_at is null and completed_at is not null`.execute(db);
  await sql`
    create index tasks_completed_by_owner on tasks (company_id, owner_id, completed_at)
    where completed_at is not null`.execute(db);

  await sql`
    create table comment_counts (
      company_id bigint not null,
      employee_id bigint not null,
      posted integer not null,
      primary key (company_id, employee_id),
      foreign key (company_id, employee_id) references employees on delete cascade
    )`.execute(db);
  await sql`
    insert into comment_counts
    select company_id, sender_id, count(*) from comments where not is_deleted group by company_id, sender_id`.execute(
    db,
  );
  await sql`
    create index comments_by_sender on comments (company_id, sender_id, created_at) where not is_deleted`.execute(db);
}
