import { sql, type Kysely } from 'kysely';

/** What the rows of imported files have become, so that no row is imported twice. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // A row is known by a digest of what identifies it in its source, as long as its task or log exists.
  await sql`
    create table imported_rows (
      company_id bigint not null,
      source text not null,
      row_key text not null,
      task_id bigint,
      task_log_id bigint,
      primary key (company_id, source, row_key),
      foreign key (company_id, task_id) references tasks on delete cascade,
      foreign key (company_id, task_log_id) references task_logs on delete cascade,
      check ((task_id is null) <> (task_log_id is null))
    )`.execute(db);
  await sql`create index imported_rows_by_task on imported_rows (company_id, task_id) where task_id is not null`.execute(
    db,
  );
  await sql`
    create index imported_rows_by_log on imported_rows (company_id, task_log_id) where task_log_id is not null`.execute(
    db,
  );
}
