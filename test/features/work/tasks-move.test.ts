import { describe, expect, test } from 'vitest';
import type { Actor } from '../../support/actor.ts';
import { startService } from '../../support/service.ts';

const service = await startService();
const ada = await service.registerCompany({ name: 'Engines' });
const grace = await service.addEmployee(ada);

const day = Date.parse('2026-03-02T00:00:00Z');

async function startProject(project: Record<string, unknown> = {}): Promise<number> {
  return (await ada.post('/api/projects/', { name: 'Difference Engine', ...project })).body._id;
}

async function addTask(projectId: number): Promise<number> {
  return (await grace.post('/api/tasks/', { projectId, title: 'Cut the gears' })).body._id;
}

/** Logs an hour, each at another hour of the day. */
function logHour(by: Actor, taskId: number, hour: number) {
  return by.post('/tasklog/create/', {
    task_id: taskId,
    employee_id: by.employeeId,
    start_time: new Date(day + hour * 3_600_000).toISOString(),
    end_time: new Date(day + (hour + 1) * 3_600_000).toISOString(),
  });
}

const move = (taskId: number, projectId: number) => grace.patch(`/api/tasks/${taskId}/`, { projectId });
const loggedHours = async (projectId: number): Promise<number> =>
  (await ada.get(`/api/projects/${projectId}/`)).body.loggedHours;

async function alarms(projectId: number): Promise<number> {
  await service.drain();
  const rows = await service.database.db
    .selectFrom('notifications')
    .where('company_id', '=', ada.companyId)
    .where('project_id', '=', projectId)
    .where('category', '=', 'project')
    .select('notification_id')
    .execute();
  return rows.length;
}

describe('a task that moves to another project', () => {
  test('takes its logged time along, and no other time', async () => {
    const [from, to, bystander] = [await startProject(), await startProject(), await startProject()];
    const [task, sibling] = [await addTask(from), await addTask(from)];
    await logHour(grace, task, 1);
    await logHour(grace, task, 2);
    await logHour(grace, sibling, 3);
    await logHour(grace, await addTask(to), 4);
    await logHour(grace, await addTask(bystander), 5);

    expect((await move(task, to)).body.projectId).toBe(to);
    expect([await loggedHours(from), await loggedHours(to), await loggedHours(bystander)]).toEqual([1, 3, 1]);
    const { body } = await grace.get(`/taskLogs/task/${task}/`);
    expect(body.taskLogs.map((log: { projectId: number }) => log.projectId)).toEqual([to, to]);

    await move(task, to);
    expect([await loggedHours(from), await loggedHours(to)]).toEqual([1, 3]);
    await grace.delete(`/api/tasklogs/delete/${body.taskLogs[0]._id}/`);
    expect([await loggedHours(from), await loggedHours(to)]).toEqual([1, 2]);
  });

  test('takes nothing along where the change is refused', async () => {
    const [from, to] = [await startProject(), await startProject()];
    const task = await addTask(from);
    await logHour(grace, task, 1);
    const refused = await grace.patch(`/api/tasks/${task}/`, { projectId: to, collaboratorIds: [999_999] });
    expect(refused.status).toBe(400);
    expect([await loggedHours(from), await loggedHours(to)]).toEqual([1, 0]);
    expect((await grace.get(`/api/tasks/${task}/`)).body.projectId).toBe(from);
  });

  test('notifies the admins where it crosses the allocation there, and arms that again where it leaves', async () => {
    const [from, to] = [await startProject({ allocatedHours: 1 }), await startProject({ allocatedHours: 1.5 })];
    const task = await addTask(from);
    await logHour(grace, task, 1);
    await logHour(grace, task, 2);
    expect([await alarms(from), await alarms(to)]).toEqual([1, 0]);
    await move(task, to);
    expect([await alarms(from), await alarms(to)]).toEqual([1, 1]);
    await move(task, from);
    expect([await alarms(from), await alarms(to)]).toEqual([2, 1]);
  });

  test('loses no time that is logged on it at the same time, whichever way it goes', async () => {
    const [left, right] = [await startProject(), await startProject()];
    const [first, second] = [await addTask(left), await addTask(right)];
    const logs = Array.from({ length: 12 }, (_, hour) => logHour(grace, hour % 2 === 0 ? first : second, hour));
    const moves = Array.from({ length: 8 }, (_, index) =>
      Promise.all([move(first, index % 2 === 0 ? right : left), move(second, index % 2 === 0 ? left : right)]),
    );
    const answers = [...(await Promise.all(logs)), ...(await Promise.all(moves)).flat()];
    expect(answers.map(({ status }) => status)).toEqual(Array(28).fill(200));

    const kept = await service.database.db
      .selectFrom('task_logs as l')
      .innerJoin('tasks as t', (join) =>
        join.onRef('t.company_id', '=', 'l.company_id').onRef('t.task_id', '=', 'l.task_id'),
      )
      .where('l.company_id', '=', ada.companyId)
      .where('l.task_id', 'in', [first, second])
      .select(['l.project_id', 't.project_id as of_task'])
      .execute();
    expect(kept.filter((log) => log.project_id !== log.of_task)).toEqual([]);
    for (const project of [left, right])
      expect(await loggedHours(project)).toBe(kept.filter((log) => log.project_id === project).length);
    expect(kept).toHaveLength(12);
  });
});
