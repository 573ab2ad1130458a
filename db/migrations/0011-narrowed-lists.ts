import { sql, type Kysely } from 'kysely';

/**
 * Lists that are narrowed to what is rare are found without reading all that is not: most people have read nearly all
 * of their notifications, and ask for the rest.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create index notifications_unread on notifications (company_id, recipient_id, notification_id desc)
    where not is_read`.execute(db);
  for (const column of ['app_type', 'category', 'priority'])
    await sql`
      create index ${sql.ref(`notifications_by_${column}`)}
      on notifications (company_id, recipient_id, ${sql.ref(column)}, notification_id desc)`.execute(db);
  await sql`
    create index projects_by_status on projects (company_id, status, project_id) where deleted_at is null`.execute(db);
}
