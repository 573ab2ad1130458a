import { describe, expect, test } from 'vitest';
import { errorOf, type Actor } from '../../support/actor.ts';
import { startService } from '../../support/service.ts';
import { addTask, startWork } from '../../support/work.ts';

const service = await startService();

const dayMs = 24 * 3600 * 1000;
const daysFromNow = (days: number) => new Date(service.clock.now().getTime() + days * dayMs);
const dayIn = (zone: string, at = service.clock.now()) =>
  new Intl.DateTimeFormat('en-CA', { timeZone: zone }).format(at);

async function statisticsOf(actor: Actor) {
  const { status, body } = await actor.get(`/task-statistics/${actor.companyId}/`);
  expect(status).toBe(200);
  return body;
}

async function setTask(actor: Actor, taskId: number, changes: object): Promise<void> {
  expect((await actor.patch(`/api/tasks/${taskId}/`, changes)).status).toBe(200);
}

async function setZone(actor: Actor, timezone: string): Promise<void> {
  expect((await actor.put(`/company/${actor.companyId}/update/`, { timezone })).status).toBe(200);
}

async function log(actor: Actor, taskId: number, start: Date, end: Date) {
  const { status, body } = await actor.post('/tasklog/create/', {
    task_id: taskId,
    employee_id: actor.employeeId,
    start_time: start,
    end_time: end,
  });
  expect({ status, issues: body.issues }).toEqual({ status: 200, issues: undefined });
  return body;
}

describe('statistics of a company', () => {
  test('are zeros where nothing has happened yet', async () => {
    const admin = await service.registerCompany();
    expect(await statisticsOf(admin)).toEqual({
      projects: { total: 0, active: 0 },
      tasks: {
        total: 0,
        byStatus: { todo: 0, in_progress: 0, in_review: 0, done: 0 },
        overdue: 0,
        completedThisWeek: 0,
      },
      hours: { today: 0, thisWeek: 0, thisMonth: 0, total: 0 },
      employees: { total: 1, active: 1 },
    });
  });

  test('count projects and tasks as they change, move and go', async () => {
    const admin = await service.registerCompany();
    const grace = await service.addEmployee(admin);
    const one = await startWork(admin);
    const other = await startWork(admin);
    const second = await addTask(grace, one.projectId);
    const figures = async () => {
      const { projects, tasks } = await statisticsOf(grace);
      return [projects.total, projects.active, tasks.total, ...Object.values(tasks.byStatus), tasks.completedThisWeek];
    };
    expect(await figures()).toEqual([2, 2, 3, 3, 0, 0, 0, 0]);
    await setTask(grace, second, { status: 'in_progress' });
    await setTask(admin, one.taskId, { status: 'done', owner_id: grace.employeeId });
    expect(await figures()).toEqual([2, 2, 3, 1, 1, 0, 1, 1]);
    await setTask(grace, one.taskId, { title: 'Same as before', status: 'done' });
    await setTask(grace, second, { status: 'in_review', projectId: other.projectId, owner_id: admin.employeeId });
    expect(await figures()).toEqual([2, 2, 3, 1, 0, 1, 1, 1]);
    await admin.patch(`/api/projects/${other.projectId}/`, { status: 'on_hold' });
    expect(await figures()).toEqual([2, 1, 3, 1, 0, 1, 1, 1]);
    await admin.delete(`/api/projects/${one.projectId}/`);
    expect(await figures()).toEqual([1, 0, 2, 1, 0, 1, 0, 0]);
    await admin.delete(`/api/tasks/${second}/`);
    expect(await figures()).toEqual([1, 0, 1, 1, 0, 0, 0, 0]);
  });

  test('call a task overdue that is not done and was due before today, as days are in the company', async () => {
    const admin = await service.registerCompany();
    await setZone(admin, 'Pacific/Pago_Pago');
    const { projectId, taskId: dueToday } = await startWork(admin);
    const overdue = async () => (await statisticsOf(admin)).tasks.overdue;
    await setTask(admin, dueToday, { dueDate: dayIn('Pacific/Pago_Pago') });
    expect(await overdue()).toBe(0);
    const dueYesterday = await addTask(admin, projectId);
    await setTask(admin, dueYesterday, { dueDate: dayIn('Pacific/Pago_Pago', daysFromNow(-1)) });
    expect(await overdue()).toBe(1);
    // There it is tomorrow already.
    await setZone(admin, 'Pacific/Kiritimati');
    expect(await overdue()).toBe(2);
    await setTask(admin, dueYesterday, { status: 'done' });
    expect(await overdue()).toBe(1);
    await admin.delete(`/api/tasks/${dueToday}/`);
    expect(await overdue()).toBe(0);
  });

  test('give hours by days of the company, the same to the second as its timesheets', async () => {
    const admin = await service.registerCompany();
    const { taskId } = await startWork(admin);
    const logs: { start: Date; end: Date }[] = [];
    // An odd number of seconds, and one that begins half a second late: each total is rounded once.
    for (const [ago, seconds] of [
      [0.3, 4_001],
      [1.1, 80_002],
      [3.4, 70_003],
      [6.2, 60_004.5],
      [20, 50_005],
      [70, 40_006],
    ] as const) {
      const end = daysFromNow(-ago);
      const start = new Date(end.getTime() - seconds * 1000);
      logs.push({ start, end });
      await log(admin, taskId, start, end);
    }
    for (const zone of ['UTC', 'America/New_York', 'Asia/Kathmandu', 'Pacific/Kiritimati']) {
      await setZone(admin, zone);
      const today = dayIn(zone);
      const weekday = (new Date(today).getUTCDay() + 6) % 7;
      const monday = new Date(Date.parse(today) - weekday * dayMs).toISOString().slice(0, 10);
      const sunday = new Date(Date.parse(monday) + 6 * dayMs).toISOString().slice(0, 10);
      const [year, month] = today.split('-').map(Number) as [number, number];
      const monthEnd = new Date(Date.UTC(year, month, 0)).toISOString().slice(0, 10);
      const hours = async (from: string, to: string) => {
        const { body } = await admin.get(`/api/timesheets/${admin.companyId}/?from=${from}&to=${to}`);
        return Math.round(body.totalSeconds / 36) / 100;
      };
      const total = logs.reduce((sum, { start, end }) => sum + Math.round((end.getTime() - start.getTime()) / 1000), 0);
      expect([zone, (await statisticsOf(admin)).hours]).toEqual([
        zone,
        {
          today: await hours(today, today),
          thisWeek: await hours(monday, sunday),
          thisMonth: await hours(`${today.slice(0, 8)}01`, monthEnd),
          total: Math.round(total / 36) / 100,
        },
      ]);
    }
  });

  test('leave the time of deleted tasks and projects in the hours', async () => {
    const admin = await service.registerCompany();
    const { projectId, taskId } = await startWork(admin);
    await log(admin, taskId, daysFromNow(-1.1), daysFromNow(-1));
    await admin.delete(`/api/tasks/${taskId}/`);
    await admin.delete(`/api/projects/${projectId}/`);
    expect((await statisticsOf(admin)).hours.total).toBe(2.4);
  });

  test('count employees, those who are deleted not and those who are inactive as such', async () => {
    const admin = await service.registerCompany();
    const [idle, gone] = [await service.addEmployee(admin), await service.addEmployee(admin)];
    await admin.patch(`/api/employees/${idle.employeeId}/`, { is_active: false });
    await admin.delete(`/api/employees/${gone.employeeId}/`);
    expect((await statisticsOf(admin)).employees).toEqual({ total: 2, active: 1 });
  });

  test('are not there for another company, and hold nothing of it', async () => {
    const admin = await service.registerCompany();
    const neighbour = await service.registerCompany();
    const { taskId } = await startWork(neighbour);
    await log(neighbour, taskId, daysFromNow(-0.1), daysFromNow(-0.05));
    const foreign = await admin.get(`/task-statistics/${neighbour.companyId}/`);
    expect(errorOf(foreign)).toEqual({ status: 404, code: 'NOT_FOUND' });
    const { tasks, hours } = await statisticsOf(admin);
    expect([tasks.total, hours.total]).toEqual([0, 0]);
  });

  test('forget what was completed when the week is over', async () => {
    const admin = await service.registerCompany();
    const { taskId } = await startWork(admin);
    await setTask(admin, taskId, { status: 'done' });
    expect((await statisticsOf(admin)).tasks.completedThisWeek).toBe(1);
    service.clock.advance({ days: 7 });
    const { byStatus, completedThisWeek } = (await statisticsOf(admin)).tasks;
    expect([byStatus.done, completedThisWeek]).toEqual([1, 0]);
  });
});
