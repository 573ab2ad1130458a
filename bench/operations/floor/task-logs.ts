import * as sql from './log-statements.ts';
import { inTransaction } from './pool.ts';
import { toTaskLog } from './records.ts';

type Entry = { taskId: number; userId: number; startTime: string; endTime: string; description: string };
type Made = { project_id: number; duration_seconds: number; start_time: Date; end_time: Date };

export async function createLog(
  companyId: number,
  body: { task_id: number; employee_id: number; start_time: string; end_time: string; description: string },
) {
  const { task_id: taskId, employee_id: employeeId, start_time: start, end_time: end, description } = body;
  return inTransaction(async (run) => {
    const [task] = await run<{ project_id: number }>('lock-task', sql.lockTask, [companyId, taskId]);
    const projectId = task!.project_id;
    const values = [companyId, taskId, employeeId, projectId, start, end, description];
    const [made] = await run<Made>('insert-log', sql.insertLog, values);
    return toTaskLog(made!);
  });
}

/** Logs of one person. */
export async function createLogs(companyId: number, entries: Entry[]) {
  const taskIds = entries.map(({ taskId }) => taskId);
  const userIds = entries.map(({ userId }) => userId);
  return inTransaction(async (run) => {
    const tasks = await run<{ task_id: number; project_id: number }>('lock-tasks', sql.lockTasks, [companyId, taskIds]);
    const projectOf = new Map(tasks.map((task) => [task.task_id, task.project_id]));
    const made = await run<Made>('insert-logs', sql.insertLogs, [
      companyId,
      taskIds,
      userIds,
      taskIds.map((taskId) => projectOf.get(taskId)),
      entries.map(({ startTime }) => startTime),
      entries.map(({ endTime }) => endTime),
      entries.map(({ description }) => description),
    ]);
    const periods = [userIds, made.map((log) => log.start_time), made.map((log) => log.end_time)];
    const projectIds = [...new Set(made.map((log) => log.project_id))];
    const days = await run<{ day: string; working_seconds: number }>('list-days', sql.listDays, [
      companyId,
      ...periods,
    ]);
    await run('exceeded', sql.listExceeded, [companyId, projectIds]);
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
