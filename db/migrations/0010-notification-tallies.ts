import { sql, type Kysely } from 'kysely';

/** How many notifications of each kind and with which flags a person has: the totals of the list under any filters. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table notification_tallies (
      company_id bigint not null,
      employee_id bigint not null,
      app_type text not null,
      category text not null,
      priority text not null,
      is_mention boolean not null,
      is_read boolean not null,
      is_starred boolean not null,
      is_later boolean not null,
      is_archived boolean not null,
      count bigint not null,
      primary key (
        company_id, employee_id, app_type, category, priority, is_mention, is_read, is_starred, is_later, is_archived
      ),
      foreign key (company_id, employee_id) references employees on delete cascade
    )`.execute(db);
  await sql`
    insert into notification_tallies
    select company_id, recipient_id, app_type, category, priority, is_mention, is_read, is_starred, is_later,
      is_archived, count(*)
    from notifications
    group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10`.execute(db);

  // What few notifications have is found without reading all the others.
  for (const flag of ['is_mention', 'is_starred', 'is_later', 'is_archived'])
    await sql`
      create index ${sql.ref(`notifications_${flag.slice(3)}`)}
      on notifications (company_id, recipient_id, notification_id desc) where ${sql.ref(flag)}`.execute(db);
}
