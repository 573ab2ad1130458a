import { sql } from 'kysely';
import type { Db } from '../transaction.ts';
import { beforeEachRow, onEachRow, onEachStatement } from './triggers.ts';

/*
 * `task_counts`: how many tasks of each status an employee owns in each project, and how many of the done ones were
 * done in time, by days of the company's time zone. Tasks of a deleted project stay counted there; nothing reads those
 * counts.
 * `company_counts`: how many visible projects and tasks a company has of each status, and of tasks also for each owner
 * (`owner_id` 0 stands for all). The counts are split into shards that are summed when read: on a single row, all
 * concurrent inserts of tasks would wait for each other's commits.
 *
 * A change of a task locks its project `for key share` and the deletion of a project locks it `for update`, so each
 * counts what the other has committed.
 */

const columns = ['todo', 'in_progress', 'in_review', 'done', 'done_with_due_date', 'done_on_time'] as const;
const columnList = columns.join(', ');

/** The columns, with each row counted `sign` times. */
const counts = (sign: string): string => `
  coalesce(sum(${sign}) filter (where status = 'todo'), 0),
  coalesce(sum(${sign}) filter (where status = 'in_progress'), 0),
  coalesce(sum(${sign}) filter (where status = 'in_review'), 0),
  coalesce(sum(${sign}) filter (where status = 'done'), 0),
  coalesce(sum(${sign}) filter (where status = 'done' and due_date is not null), 0),
  coalesce(sum(${sign}) filter (where status = 'done' and local_day(completed_at, timezone) <= due_date), 0)`;

const shards = 16;
const addToCompany = (rows: string): string => `
  insert into company_counts (company_id, kind, owner_id, status, shard, count)
  select company_id, kind, owner_id, status, pg_backend_pid() % ${shards}, count from (${rows}) as c
  order by company_id, kind, owner_id, status
  on conflict (company_id, kind, owner_id, status, shard) do update set count = company_counts.count + excluded.count;`;

/** The net change of the counted values. */
const netOf = (changes: string): string => `(
  select company_id, project_id, owner_id, status, due_date, completed_at, sum(sign) as sign
  from ${changes} as c where deleted_at is null
  group by company_id, project_id, owner_id, status, due_date, completed_at having sum(sign) <> 0
)`;

const ofTasks = onEachStatement('tasks', 'derive_task_counts', {
  body: (changes) => `
    -- The row of the company is locked, so that its time zone stays.
    perform from companies where company_id in (select company_id from ${netOf(changes)} as n) order by company_id for share;
    if not found then return null; end if;
    perform from projects
    where (company_id, project_id) in (select company_id, project_id from ${netOf(changes)} as n)
    order by company_id, project_id for key share;

    insert into task_counts (company_id, project_id, owner_id, ${columnList})
    select n.company_id, n.project_id, n.owner_id, ${counts('n.sign')}
    from ${netOf(changes)} as n join companies as c using (company_id)
    group by n.company_id, n.project_id, n.owner_id
    order by n.company_id, n.project_id, n.owner_id
    on conflict (company_id, project_id, owner_id) do update set
      ${columns.map((name) => `${name} = task_counts.${name} + excluded.${name}`).join(', ')};

    ${addToCompany(`
      select company_id, 'task' as kind, coalesce(n.owner_id, 0) as owner_id, n.status, sum(n.sign) as count
      from ${netOf(changes)} as n join projects as p using (company_id, project_id)
      where p.deleted_at is null
      group by grouping sets ((company_id, n.status), (company_id, n.status, n.owner_id)) having sum(n.sign) <> 0`)}`,
});

const ofProjects = onEachRow('projects', 'derive_project_counts', {
  when: { event: 'insert or update of status, deleted_at' },
  body: `
    if tg_op = 'INSERT' then
      -- An import inserts deleted ones too.
      ${addToCompany(`
        select new.company_id, 'project' as kind, 0 as owner_id, new.status, 1 as count where new.deleted_at is null`)}
    elsif new.deleted_at is null and old.deleted_at is null then
      ${addToCompany(`
        select new.company_id, 'project' as kind, 0 as owner_id, status, sum(sign) as count
        from (values (old.status, -1), (new.status, 1)) as s (status, sign) group by status having sum(sign) <> 0`)}
    elsif old.deleted_at is null then
      ${addToCompany(`
        select old.company_id, 'project' as kind, 0 as owner_id, old.status, -1 as count
        union all
        select company_id, 'task', coalesce(t.owner_id, 0), s.status, -sum(s.count)
        from task_counts as t
        cross join lateral (values
          ('todo', t.todo), ('in_progress', t.in_progress), ('in_review', t.in_review), ('done', t.done)
        ) as s (status, count)
        where t.company_id = old.company_id and t.project_id = old.project_id
        group by grouping sets ((company_id, s.status), (company_id, s.status, t.owner_id)) having sum(s.count) <> 0`)}
    end if;`,
});

/**
 * Locks the company before the task's owner: the trigger above runs after the checks of foreign keys, which lock the
 * owner, and a change of employment locks the company and then the employee.
 */
const companyFirst = beforeEachRow('tasks', 'lock_company_of_task', {
  events: 'insert or update of owner_id',
  body: 'perform from companies where company_id = new.company_id for share;',
});

export const taskCounts = [...companyFirst, ...ofTasks, ...ofProjects];

/** Recomputes the counts of all tasks of a company, whose days may have changed. Lock the company's row first. */
export async function recomputeTaskCounts(db: Db, companyId: number): Promise<void> {
  await sql`
    insert into task_counts (company_id, project_id, owner_id, ${sql.raw(columnList)})
    select ${companyId}::bigint, project_id, owner_id, ${sql.raw(counts('1'))}
    from (
      select t.project_id, t.owner_id, t.status, t.due_date, t.completed_at, c.timezone
      from tasks as t join companies as c on c.company_id = t.company_id
      where t.company_id = ${companyId} and t.deleted_at is null
      union all
      -- What has no tasks any more is counted as nothing.
      select project_id, owner_id, null, null, null, null from task_counts where company_id = ${companyId}
    ) as task
    group by project_id, owner_id
    order by project_id, owner_id
    on conflict (company_id, project_id, owner_id) do update set
      ${sql.raw(columns.map((name) => `${name} = excluded.${name}`).join(', '))}`.execute(db);
}

/** Recomputes the counts of a company's projects and tasks. No other transaction may write in it at the same time. */
export async function recomputeCompanyCounts(db: Db, companyId: number): Promise<void> {
  await db.deleteFrom('company_counts').where('company_id', '=', companyId).execute();
  await sql`
    insert into company_counts (company_id, kind, owner_id, status, shard, count)
    select ${companyId}::bigint, kind, owner_id, status, 0, count from (${countedCompany(companyId)}) as c`.execute(db);
}

/** The rows that `company_counts` should hold: (kind, owner_id, status, count). */
export const countedCompany = (companyId: number) => sql`
  select 'project' as kind, 0::bigint as owner_id, status, count(*) as count
  from projects where company_id = ${companyId} and deleted_at is null group by status
  union all
  select 'task', coalesce(t.owner_id, 0), t.status, count(*)
  from tasks as t join projects as p on p.company_id = t.company_id and p.project_id = t.project_id
  where t.company_id = ${companyId} and t.deleted_at is null and p.deleted_at is null
  group by grouping sets ((t.status), (t.status, t.owner_id))`;
