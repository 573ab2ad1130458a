import type { Db } from '../../db/open.ts';

/* Figures of a company, counted from its rows by a program of their own: nothing here is the service's. */

const dayMs = 24 * 3600 * 1000;
const openStatuses = ['todo', 'in_progress', 'in_review'] as const;

const dayIn = (zone: string, at: Date) =>
  new Intl.DateTimeFormat('en-CA', { timeZone: zone, year: 'numeric', month: '2-digit', day: '2-digit' }).format(at);

type Counts = Record<'todo' | 'in_progress' | 'in_review' | 'done' | 'done_with_due_date' | 'done_on_time', number>;

/** The stored counters, by `project owner` and by sender; zero counts are omitted. */
type StoredCounts = { tasks: Record<string, Counts>; comments: Record<number, number> };

export async function storedCounts(db: Db, companyId: number): Promise<StoredCounts> {
  const tasks = await db.selectFrom('task_counts').where('company_id', '=', companyId).selectAll().execute();
  const comments = await db.selectFrom('comment_counts').where('company_id', '=', companyId).selectAll().execute();
  return {
    tasks: Object.fromEntries(
      tasks
        .map(
          ({ company_id: _company, project_id, owner_id, ...counts }) => [`${project_id} ${owner_id}`, counts] as const,
        )
        .filter(([, counts]) => Object.values(counts).some((count) => count !== 0)),
    ),
    comments: Object.fromEntries(
      comments.filter(({ posted }) => posted !== 0).map(({ employee_id, posted }) => [employee_id, posted]),
    ),
  };
}

/** The rows of a company, and the counters that should be stored. */
export async function countAnew(db: Db, companyId: number) {
  const { timezone } = await db
    .selectFrom('companies')
    .where('company_id', '=', companyId)
    .select('timezone')
    .executeTakeFirstOrThrow();
  const projects = await db.selectFrom('projects').where('company_id', '=', companyId).selectAll().execute();
  const tasks = await db.selectFrom('tasks').where('company_id', '=', companyId).selectAll().execute();
  const logs = await db.selectFrom('task_logs').where('company_id', '=', companyId).selectAll().execute();
  const wholeDays = await db.selectFrom('company_days').where('company_id', '=', companyId).selectAll().execute();
  const shards = await db.selectFrom('company_day_shards').where('company_id', '=', companyId).selectAll().execute();
  const days = [...wholeDays, ...shards];
  const employees = await db.selectFrom('employees').where('company_id', '=', companyId).selectAll().execute();
  const comments = await db
    .selectFrom('comments')
    .where('company_id', '=', companyId)
    .where('is_deleted', '=', false)
    .selectAll()
    .execute();

  const kept: StoredCounts = { tasks: {}, comments: {} };
  for (const task of tasks.filter(({ deleted_at }) => deleted_at === null)) {
    const counts = (kept.tasks[`${task.project_id} ${task.owner_id}`] ??= {
      todo: 0,
      in_progress: 0,
      in_review: 0,
      done: 0,
      done_with_due_date: 0,
      done_on_time: 0,
    });
    counts[task.status as 'todo'] += 1;
    if (task.status !== 'done' || task.due_date === null) continue;
    counts.done_with_due_date += 1;
    if (dayIn(timezone, task.completed_at!) <= task.due_date) counts.done_on_time += 1;
  }
  for (const { sender_id } of comments) kept.comments[sender_id] = (kept.comments[sender_id] ?? 0) + 1;
  return { timezone, projects, tasks, logs, days, employees, comments, kept };
}

type Counted = Awaited<ReturnType<typeof countAnew>>;

const toHours = (seconds: number) => Math.round(seconds / 36) / 100;
const sum = (values: number[]) => values.reduce((total, value) => total + value, 0);

function visibleTasks({ projects, tasks }: Counted) {
  const gone = new Set(projects.filter(({ deleted_at }) => deleted_at !== null).map(({ project_id }) => project_id));
  return tasks.filter(({ deleted_at, project_id }) => deleted_at === null && !gone.has(project_id));
}

const isOverdue = (task: { status: string; due_date: string | null }, today: string) =>
  task.status !== 'done' && task.due_date !== null && task.due_date < today;

export function toStatistics(counted: Counted, now: Date) {
  const { timezone, projects, logs, days, employees } = counted;
  const tasks = visibleTasks(counted);
  const today = dayIn(timezone, now);
  const monday = Date.parse(today) - ((new Date(today).getUTCDay() + 6) % 7) * dayMs;
  const isThisWeek = (day: string) => Date.parse(day) >= monday && Date.parse(day) < monday + 7 * dayMs;
  const hoursOn = (isMeant: (day: string) => boolean) =>
    toHours(sum(days.filter(({ day }) => isMeant(day)).map(({ logged_seconds }) => logged_seconds)));
  const there = projects.filter(({ deleted_at }) => deleted_at === null);
  const people = employees.filter(({ is_deleted }) => !is_deleted);
  return {
    projects: { total: there.length, active: there.filter((project) => project.status === 'active').length },
    tasks: {
      total: tasks.length,
      byStatus: Object.fromEntries(
        [...openStatuses, 'done'].map((status) => [status, tasks.filter((task) => task.status === status).length]),
      ),
      overdue: tasks.filter((task) => isOverdue(task, today)).length,
      completedThisWeek: tasks.filter((task) => task.completed_at && isThisWeek(dayIn(timezone, task.completed_at)))
        .length,
    },
    hours: {
      today: hoursOn((day) => day === today),
      thisWeek: hoursOn(isThisWeek),
      thisMonth: hoursOn((day) => day.slice(0, 7) === today.slice(0, 7)),
      total: toHours(sum(logs.map(({ duration_seconds }) => duration_seconds))),
    },
    employees: { total: people.length, active: people.filter(({ is_active }) => is_active).length },
  };
}

/** The row of one employee, without the name. */
export function toPerformance(counted: Counted, employeeId: number, now: Date) {
  const { timezone, tasks, logs, comments } = counted;
  const owned = visibleTasks(counted).filter(({ owner_id }) => owner_id === employeeId);
  const completed = owned.filter(({ status }) => status === 'done');
  const withDueDate = completed.filter(({ due_date }) => due_date !== null);
  const onTime = withDueDate.filter(({ completed_at, due_date }) => dayIn(timezone, completed_at!) <= due_date!);
  const theirLogs = logs.filter(({ employee_id }) => employee_id === employeeId);
  const theirComments = comments.filter(({ sender_id }) => sender_id === employeeId);
  const moments = [
    ...theirLogs.map(({ end_time }) => end_time),
    ...theirComments.map(({ created_at }) => created_at),
    ...tasks.filter(({ owner_id }) => owner_id === employeeId).map(({ completed_at }) => completed_at),
  ].flatMap((moment) => (moment ? [moment.getTime()] : []));
  return {
    employee_id: employeeId,
    loggedHours: toHours(sum(theirLogs.map(({ duration_seconds }) => duration_seconds))),
    tasksAssigned: owned.length,
    tasksCompleted: completed.length,
    tasksOverdue: owned.filter((task) => isOverdue(task, dayIn(timezone, now))).length,
    onTimeRate: withDueDate.length === 0 ? null : Math.round((onTime.length / withDueDate.length) * 10_000) / 10_000,
    commentsPosted: theirComments.length,
    lastActivityAt: moments.length === 0 ? null : new Date(Math.max(...moments)).toISOString(),
  };
}
