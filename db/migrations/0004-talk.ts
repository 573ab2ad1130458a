import { sql, type Kysely } from 'kysely';

/** Comments on tasks, and the notifications that people receive. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table comments (
      company_id bigint not null,
      comment_id bigint generated always as identity,
      task_id bigint not null,
      sender_id bigint not null,
      client_sender bigint,
      message text,
      mentioned_emails text[] not null default '{}',
      reply_to bigint,
      image text,
      is_edited boolean not null default false,
      is_deleted boolean not null default false,
      created_at timestamptz not null,
      edited_at timestamptz,
      primary key (company_id, comment_id),
      unique (company_id, task_id, comment_id),
      foreign key (company_id, task_id) references tasks on delete cascade,
      foreign key (company_id, sender_id) references employees,
      foreign key (company_id, task_id, reply_to) references comments (company_id, task_id, comment_id)
    )`.execute(db);
  await sql`create index comments_by_parent on comments (company_id, task_id, reply_to)`.execute(db);

  await sql`
    create table comment_mentions (
      company_id bigint not null,
      comment_id bigint not null,
      employee_id bigint not null,
      primary key (company_id, comment_id, employee_id),
      foreign key (company_id, comment_id) references comments on delete cascade,
      foreign key (company_id, employee_id) references employees on delete cascade
    )`.execute(db);

  await sql`
    create table comment_likes (
      company_id bigint not null,
      comment_id bigint not null,
      employee_id bigint not null,
      created_at timestamptz not null,
      primary key (company_id, comment_id, employee_id),
      foreign key (company_id, comment_id) references comments on delete cascade,
      foreign key (company_id, employee_id) references employees on delete cascade
    )`.execute(db);

  await sql`
    create table comment_views (
      company_id bigint not null,
      comment_id bigint not null,
      employee_id bigint not null,
      seen_at timestamptz not null,
      primary key (company_id, comment_id, employee_id),
      foreign key (company_id, comment_id) references comments on delete cascade,
      foreign key (company_id, employee_id) references employees on delete cascade
    )`.execute(db);

  // `cause` names the fact and the reason that made the notification: the same fact delivered twice makes one row.
  await sql`
    create table notifications (
      company_id bigint not null,
      notification_id bigint generated always as identity,
      recipient_id bigint not null,
      cause text not null,
      app_type text not null check (app_type in ('hr', 'task')),
      category text not null check (category in ('task', 'project', 'need_attention', 'message', 'notice')),
      priority text not null check (priority in ('primary', 'updates', 'others', 'activity')),
      title text not null,
      message text not null,
      link text,
      actor_id bigint,
      task_id bigint,
      comment_id bigint,
      project_id bigint,
      is_mention boolean not null default false,
      is_read boolean not null default false,
      is_starred boolean not null default false,
      is_later boolean not null default false,
      is_archived boolean not null default false,
      created_at timestamptz not null,
      primary key (company_id, notification_id),
      unique (company_id, recipient_id, cause),
      foreign key (company_id, recipient_id) references employees on delete cascade,
      foreign key (company_id, actor_id) references employees
    )`.execute(db);
  await sql`
    create index notifications_by_recipient
    on notifications (company_id, recipient_id, notification_id desc)`.execute(db);

  // Kept as notifications come, are read and go, so that a badge costs one row.
  await sql`
    create table notification_counts (
      company_id bigint not null,
      employee_id bigint not null,
      unread integer not null default 0 check (unread >= 0),
      total integer not null default 0 check (total >= 0),
      primary key (company_id, employee_id),
      foreign key (company_id, employee_id) references employees on delete cascade
    )`.execute(db);
}
