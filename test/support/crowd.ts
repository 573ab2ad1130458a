import { sql } from 'kysely';
import type { Db } from '../../db/open.ts';

type Crowd = { companyId: number; projectId: number; taskId: number; people: number; firstDay: string; days: number };

/** Employees, each with a log of 90 minutes a day. Straight in the database: over HTTP it would take minutes. */
export async function addCrowd(db: Db, { companyId, projectId, taskId, people, firstDay, days }: Crowd): Promise<void> {
  await sql`
    with account as (
      insert into accounts (email, created_at, updated_at)
      select 'crowd' || n || '-of-' || ${companyId}::text || '@example.com', now(), now()
      from generate_series(1, ${people}::integer) as n
      returning account_id, email
    ), person as (
      insert into employees (company_id, account_id, email, first_name, last_name, search_text, created_at, updated_at)
      select ${companyId}::bigint, account_id, email, 'Crowd', substr(email, 6, 3), '', now(), now() from account
      returning employee_id
    )
    insert into task_logs (company_id, project_id, task_id, employee_id, start_time, end_time, manual_add, created_at, updated_at)
    select ${companyId}, ${projectId}, ${taskId}, employee_id, at, at + interval '90 minutes', true, now(), now()
    from person cross join lateral (
      select ${`${firstDay}T10:00:00Z`}::timestamptz + n * interval '1 day' as at
      from generate_series(0, ${days - 1}::integer) as n
    ) as d`.execute(db);
}
