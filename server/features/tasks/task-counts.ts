import { sql } from 'kysely';
import type { Db } from '../../../db/open.ts';
import { keepVisibleTasks } from '../company/counts.ts';
import type { TaskStatus } from './queries.ts';
import { taskStatuses } from './schemas.ts';

/*
 * How many tasks of which status each person owns in each project, and how many of those that are done were done in
 * time: kept as tasks change, in their transaction. A day is one of the company's time zone, so whoever keeps the counts
 * holds the company's row in place, and whoever changes the zone counts anew. In the order of locks they come
 * after tasks, and before logs, days and changes of projects.
 */

/** What is counted of a task. */
export type CountedTask = {
  project_id: number;
  owner_id: number;
  status: string;
  due_date: string | null;
  completed_at: Date | null;
};

/** A task before and after a change: a new one has no before, a deleted one no after. */
export type TaskChange = { before?: CountedTask; after?: CountedTask };

/** The counts of the tasks at hand, each taken `sign` times; the same words wherever they are counted. */
const counts = (sign = sql`1`) => sql`
  coalesce(sum(${sign}) filter (where status = 'todo'), 0),
  coalesce(sum(${sign}) filter (where status = 'in_progress'), 0),
  coalesce(sum(${sign}) filter (where status = 'in_review'), 0),
  coalesce(sum(${sign}) filter (where status = 'done'), 0),
  coalesce(sum(${sign}) filter (where status = 'done' and due_date is not null), 0),
  coalesce(sum(${sign}) filter (where status = 'done' and local_day(completed_at, timezone) <= due_date), 0)`;

const columns = ['todo', 'in_progress', 'in_review', 'done', 'done_with_due_date', 'done_on_time'] as const;

export async function keepTaskCounts(
  db: Db,
  { companyId, before, after }: { companyId: number } & TaskChange,
): Promise<void> {
  if (before && after && isCountedAlike(before, after)) return;
  const tasks = [...(before ? [{ ...before, sign: -1 }] : []), ...(after ? [{ ...after, sign: 1 }] : [])];
  const column = <Key extends keyof (typeof tasks)[number]>(key: Key) => tasks.map((task) => task[key]);
  // Each takes its own look at what the ones before it had to wait for.
  const holding = hold(db, companyId, column('project_id'));
  const keeping = sql`
    with company as (select timezone from companies where company_id = ${companyId} for share)
    insert into task_counts (company_id, project_id, owner_id, ${sql.join(columns.map((name) => sql.ref(name)))})
    select ${companyId}::bigint, project_id, owner_id, ${counts(sql`sign`)}
    from company, unnest(
      ${column('sign')}::integer[], ${column('project_id')}::bigint[], ${column('owner_id')}::bigint[],
      ${column('status')}::text[], ${column('due_date')}::date[], ${column('completed_at')}::timestamptz[]
    ) as task (sign, project_id, owner_id, status, due_date, completed_at)
    group by project_id, owner_id
    order by project_id, owner_id
    on conflict (company_id, project_id, owner_id) do update set
      ${sql.join(columns.map((name) => sql`${sql.ref(name)} = task_counts.${sql.ref(name)} + excluded.${sql.ref(name)}`))}
  `.execute(db);
  const visible = keepVisibleTasks(
    db,
    companyId,
    tasks.map((task) => ({ projectId: task.project_id, ownerId: task.owner_id, status: task.status, by: task.sign })),
  );
  await Promise.all([holding, keeping, visible]);
}

/** The company's row, so that its time zone stays, and then the projects, so that none of them is deleted meanwhile. */
async function hold(db: Db, companyId: number, projectIds: readonly number[]): Promise<void> {
  await sql`
    with company as materialized (select company_id from companies where company_id = ${companyId} for share)
    select project_id from projects
    where company_id = (select company_id from company) and project_id = any(${projectIds}::bigint[])
    order by project_id for key share`.execute(db);
}

function isCountedAlike(one: CountedTask, other: CountedTask): boolean {
  return (
    one.project_id === other.project_id &&
    one.owner_id === other.owner_id &&
    one.status === other.status &&
    one.due_date === other.due_date &&
    one.completed_at?.getTime() === other.completed_at?.getTime()
  );
}

/** What tasks are narrowed to. */
export type Narrowed = {
  projectId?: number | undefined;
  ownerId?: number | undefined;
  status?: TaskStatus | undefined;
};

/** How many tasks there are of a project, of one owner or of all, of one status or of all. */
export async function countInProject(
  db: Db,
  companyId: number,
  { projectId, ownerId, status }: Narrowed & { projectId: number },
): Promise<number> {
  const counted = sql.join(
    (status ? [status] : taskStatuses).map((name) => sql.ref(`t.${name}`)),
    sql` + `,
  );
  const { count } = await db
    .selectFrom('task_counts as t')
    .innerJoin('projects as p', (join) =>
      join.onRef('p.company_id', '=', 't.company_id').onRef('p.project_id', '=', 't.project_id'),
    )
    .where('t.company_id', '=', companyId)
    .where('t.project_id', '=', projectId)
    .where('p.deleted_at', 'is', null)
    .$if(ownerId !== undefined, (some) => some.where('t.owner_id', '=', ownerId!))
    .select(sql<number>`coalesce(sum(${counted}), 0)::bigint`.as('count'))
    .executeTakeFirstOrThrow();
  return count;
}

/** Counts all tasks of a company anew. Its row must be locked, or nobody else be at work in it. */
export async function recountTasks(db: Db, companyId: number): Promise<void> {
  await sql`
    insert into task_counts (company_id, project_id, owner_id, ${sql.join(columns.map((name) => sql.ref(name)))})
    select ${companyId}::bigint, project_id, owner_id, ${counts()}
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
      ${sql.join(columns.map((name) => sql`${sql.ref(name)} = excluded.${sql.ref(name)}`))}`.execute(db);
}
