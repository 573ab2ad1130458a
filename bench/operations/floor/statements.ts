/*
 * The service's own SQL, written by hand and without its checks of the caller: what a good team would send. Only the
 * total of a page is written as teams usually do, `count(*)`: the service stores it instead, and that difference is
 * measured. pgbench runs the same texts.
 */

const hangsOn = (table: string): string =>
  `from ${table} where company_id = $1 and comment_id = any(array(select comment_id from chosen))`;

/** $1 company, $2 task. */
export const listComments = `
  with chosen as materialized (
    select c.company_id, c.comment_id, c.task_id, c.sender_id, c.client_sender, c.message, c.mentioned_emails, c.reply_to,
      c.image, c.is_edited, c.is_deleted, c.created_at, c.edited_at
    from tasks as t
    join projects as p on p.company_id = t.company_id and p.project_id = t.project_id
    join comments as c on c.company_id = t.company_id and c.task_id = t.task_id
    where t.company_id = $1 and t.deleted_at is null and p.deleted_at is null and c.task_id = $2
  ),
  mentions as materialized (select comment_id, employee_id ${hangsOn('comment_mentions')}),
  likes as materialized (select comment_id, employee_id, created_at ${hangsOn('comment_likes')}),
  views as materialized (select comment_id, employee_id, seen_at ${hangsOn('comment_views')})
  select chosen.*, case when row_number() over (order by comment_id) = 1 then json_build_object(
    'people', (
      select json_agg(json_build_object(
        'employee_id', e.employee_id, 'name', e.name, 'email', e.email, 'picture_id', e.picture_id))
      from employees as e
      where e.company_id = $1 and e.employee_id = any(array(
        select sender_id from chosen union all select employee_id from mentions
        union all select employee_id from likes union all select employee_id from views
      ))
    ),
    'mentions', array(select array[comment_id, employee_id] from mentions order by employee_id),
    'likes', array(select array[comment_id, employee_id] from likes order by created_at, employee_id),
    'views', array(
      select array[comment_id, employee_id, (extract(epoch from seen_at) * 1000)::bigint]
      from views order by seen_at, employee_id
    )
  ) end as related
  from chosen order by comment_id`;
/** $1 company, $2 employee. */
export const findPerson = `
  select employee_id, name, email, picture_id from employees where company_id = $1 and employee_id = $2`;

const employeeColumns = `company_id, employee_id, email, first_name, last_name, name, phone, designation, salary, is_admin,
  account_id, is_team_leader, is_active, is_deleted, date_of_birth, date_of_joining, gender, country_code, picture_id, created_at, updated_at`;
/** $1 company, $2 employee. */
export const findEmployee = `select ${employeeColumns} from employees where company_id = $1 and employee_id = $2`;
/** $1 company, $2 and $3 patterns, $4 what was asked for. */
export const searchEmployees = `
  select ${employeeColumns} from employees
  where company_id = $1 and is_deleted = false and search_text like $2 and search_text like $3
  order by case when starts_with(search_text, ' ' || $4 || ' ' || email) then 0
    when starts_with(search_text, ' ' || $4) then 1 else 2 end, search_text collate "C", employee_id
  limit 50`;

/** $1 company, $2 recipient. */
export const listNotifications = `
  select n.notification_id, n.recipient_id, n.app_type, n.category, n.priority, n.title, n.message, n.link, n.actor_id,
    a.name as actor_name, n.task_id, n.comment_id, n.project_id, n.is_mention, n.is_read, n.is_starred, n.is_later,
    n.is_archived, n.created_at
  from notifications as n left join employees as a on a.company_id = n.company_id and a.employee_id = n.actor_id
  where n.company_id = $1 and n.recipient_id = $2
  order by n.notification_id desc limit 10`;
export const countNotifications = 'select count(*) from notifications where company_id = $1 and recipient_id = $2';
export const countUnread = 'select unread from notification_counts where company_id = $1 and employee_id = $2';

/** $1 company, $2 task. */
export const findTask = `
  select t.task_id, t.project_id from tasks as t
  join projects as p on p.company_id = t.company_id and p.project_id = t.project_id
  where t.company_id = $1 and t.task_id = $2 and t.deleted_at is null and p.deleted_at is null`;
/** $1 company, $2 task, $3 sender, $4 message. */
export const insertComment = `
  insert into comments (company_id, task_id, sender_id, message, created_at) values ($1, $2, $3, $4, now())
  returning comment_id, created_at`;
/** $1 company, $2 stream, $3 type, $4 payload. */
export const appendEvent = `
  with taken as (
    insert into event_streams as s (company_id, stream, last_sequence) values ($1, $2, 1)
    on conflict (company_id, stream) do update set last_sequence = s.last_sequence + 1
    returning last_sequence
  )
  insert into events (company_id, stream, sequence, type, payload, at)
  select $1, $2, last_sequence, $3, $4::jsonb, now() from taken`;
/** $1 key, $2 payload. */
export const enqueueJob = `
  insert into jobs (handler, queue, dedupe_key, payload, due_at, created_at)
  values ('comment-created', 'database', $1, $2::jsonb, now(), now()) on conflict (dedupe_key) do nothing`;
