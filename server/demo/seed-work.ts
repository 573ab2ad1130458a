import type { Db } from '../../db/open.ts';
import { insertTaskLogs, type NewTaskLog } from '../features/task-logs/queries.ts';
import { company, projects, shifts, tasks, type PersonKey, type ProjectKey, type TaskKey } from './company.ts';
import { dayOf, daysBefore, type Staff } from './seed-people.ts';

const loggedDays = 14;
const hourMs = 3_600_000;

/** Creates projects, tasks and the hours logged on them; returns the tasks' identifiers. */
export async function seedWork(db: Db, staff: Staff, now: Date): Promise<Record<TaskKey, number>> {
  const since = daysBefore(now, company.daysAgo - 1);
  const projectIds = {} as Record<ProjectKey, number>;
  for (const key of Object.keys(projects) as ProjectKey[]) {
    const { name, description, allocatedHours, owner } = projects[key];
    const { project_id } = await db
      .insertInto('projects')
      .values({
        company_id: staff.companyId,
        name,
        description,
        allocated_hours: allocatedHours,
        owner_id: staff.employeeIds[owner],
        created_at: since,
        updated_at: since,
      })
      .returning('project_id')
      .executeTakeFirstOrThrow();
    projectIds[key] = project_id;
  }
  const taskIds = {} as Record<TaskKey, number>;
  for (const key of Object.keys(tasks) as TaskKey[])
    taskIds[key] = await seedTask(db, staff, { key, projectIds, since, now });

  await insertTaskLogs(db, {
    companyId: staff.companyId,
    logs: logsOf(staff, taskIds, projectIds, now),
    now,
  });
  return taskIds;
}

async function seedTask(
  db: Db,
  { companyId, employeeIds }: Staff,
  { key, projectIds, since, now }: { key: TaskKey; projectIds: Record<ProjectKey, number>; since: Date; now: Date },
): Promise<number> {
  const { project, title, status, owner, with: others, due, hours } = tasks[key];
  const isDone = status === 'done';
  // Done tasks were done a day before they were due.
  const completedAt = isDone ? daysBefore(now, 1 - (due ?? 0)) : null;
  const { task_id: taskId } = await db
    .insertInto('tasks')
    .values({
      company_id: companyId,
      project_id: projectIds[project],
      title,
      status,
      owner_id: employeeIds[owner],
      due_date: due === null ? null : dayOf(daysBefore(now, -due)),
      estimated_hours: hours,
      completed_at: completedAt,
      created_at: since,
      updated_at: completedAt ?? since,
    })
    .returning('task_id')
    .executeTakeFirstOrThrow();
  if (others.length > 0)
    await db
      .insertInto('task_collaborators')
      .values(others.map((person) => ({ company_id: companyId, task_id: taskId, employee_id: employeeIds[person] })))
      .execute();
  return taskId;
}

/** Logs of a morning and an afternoon for each person on each weekday before today, at slightly varying times. */
function logsOf(
  { employeeIds }: Staff,
  taskIds: Record<TaskKey, number>,
  projectIds: Record<ProjectKey, number>,
  now: Date,
): NewTaskLog[] {
  const today = Date.parse(dayOf(now));
  return Object.entries(shifts).flatMap(([person, turns], index) =>
    Array.from({ length: loggedDays }, (_, ago) => new Date(today - (loggedDays - ago) * 24 * hourMs))
      .filter((day) => day.getUTCDay() % 6 !== 0)
      .flatMap((day, nth) =>
        [9, 13.5].map((hour, half) => {
          const task = turns[(nth * 2 + half) % turns.length]!;
          const startTime = new Date(day.getTime() + (hour + index / 12) * hourMs);
          const minutes = 205 + 10 * ((nth * 3 + index * 2 + half) % 7);
          return {
            taskId: taskIds[task],
            employeeId: employeeIds[person as PersonKey],
            projectId: projectIds[tasks[task].project],
            startTime,
            endTime: new Date(startTime.getTime() + minutes * 60_000),
            description: null,
            manualAdd: half === 0,
            billable: true,
          };
        }),
      ),
  );
}
