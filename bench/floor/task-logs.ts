import * as sql from './log-statements.ts';
import { inTransaction, type Run } from './pool.ts';
import { toTaskLog } from './records.ts';

type Entry = { taskId: number; userId: number; startTime: string; endTime: string; description: string };
type Made = { project_id: number; duration_seconds: number; start_time: Date; end_time: Date };

/** Inserts logs with all that is kept of them: days, sums, projects' hours. */
async function insert(run: Run, companyId: number, entries: Entry[]) {
  const taskIds = entries.map(({ taskId }) => taskId);
  const tasks = await run<{ task_id: number; project_id: number }>('lock-tasks', sql.lockTasks, [companyId, taskIds]);
  const projectOf = new Map(tasks.map((task) => [task.task_id, task.project_id]));
  const made = await run<Made>('insert-logs', sql.insertLogs, [
    companyId,
    taskIds,
    entries.map(({ userId }) => userId),
    taskIds.map((taskId) => projectOf.get(taskId)),
    entries.map(({ startTime }) => startTime),
    entries.map(({ endTime }) => endTime),
    entries.map(({ description }) => description),
  ]);
  await run('lock-days', sql.lockDays, [companyId, [...new Set(entries.map(({ userId }) => userId))]]);
  const periods = [
    entries.map(({ userId }) => userId),
    made.map((log) => log.start_time),
    made.map((log) => log.end_time),
  ];
  await run('keep-days', sql.keepDays, [companyId, ...periods]);
  const seconds = new Map<number, number>();
  for (const log of made) seconds.set(log.project_id, (seconds.get(log.project_id) ?? 0) + log.duration_seconds);
  const projectIds = [...seconds.keys()];
  if (projectIds.length > 1) await run('lock-allocations', sql.lockAllocations, [companyId, projectIds]);
  await run('add-time', sql.addTime, [companyId, projectIds, [...seconds.values()]]);
  return { made, periods, projectIds };
}

export async function createLog(
  companyId: number,
  body: { task_id: number; employee_id: number; start_time: string; end_time: string; description: string },
) {
  const entry = { taskId: body.task_id, userId: body.employee_id, startTime: body.start_time, endTime: body.end_time };
  return inTransaction(async (run) => {
    const { made } = await insert(run, companyId, [{ ...entry, description: body.description }]);
    return toTaskLog(made[0]!);
  });
}

export async function createLogs(companyId: number, entries: Entry[]) {
  return inTransaction(async (run) => {
    const { made, periods, projectIds } = await insert(run, companyId, entries);
    const days = await run<{ day: string; working_seconds: number }>('list-days', sql.listDays, [
      companyId,
      ...periods,
    ]);
    await run('allocations', sql.allocations, [companyId, projectIds]);
    return {
      created: made.map(toTaskLog),
      skipped: [],
      days: days.map(({ day, working_seconds }) => ({
        date: day,
        workingHours: Math.round(working_seconds / 36) / 100,
      })),
      exceededProjects: [],
    };
  });
}
