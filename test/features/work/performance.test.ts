import { describe, expect, test } from 'vitest';
import { errorOf, type Actor } from '../../support/actor.ts';
import { startService } from '../../support/service.ts';
import { addTask, startWork } from '../../support/work.ts';

const service = await startService();

const hoursFromNow = (hours: number) => new Date(service.clock.now().getTime() + hours * 3_600_000);
const dayIn = (zone: string) => new Intl.DateTimeFormat('en-CA', { timeZone: zone }).format(service.clock.now());

async function listFor(actor: Actor): Promise<{ employee_id: number; name: string }[]> {
  const { status, body } = await actor.get(`/api/performance/${actor.companyId}/`);
  expect(status).toBe(200);
  return body.employees;
}

async function rowOf(actor: Actor): Promise<Record<string, unknown>> {
  const { companyId } = actor;
  const { body } = await actor.get(`/api/performance/${companyId}/`);
  return body.employees.find((row: { employee_id: number }) => row.employee_id === actor.employeeId);
}

async function setTask(actor: Actor, taskId: number, changes: object): Promise<void> {
  expect((await actor.patch(`/api/tasks/${taskId}/`, changes)).status).toBe(200);
}

async function comment(actor: Actor, taskId: number): Promise<{ _id: number; createdAt: string }> {
  const { status, body } = await actor.post('/api/task-chats/', { taskId, sender: actor.employeeId, message: 'Done' });
  expect(status).toBe(200);
  return body;
}

async function log(actor: Actor, taskId: number, start: Date, end: Date) {
  const times = { start_time: start, end_time: end };
  const { body } = await actor.post('/tasklog/create/', { task_id: taskId, employee_id: actor.employeeId, ...times });
  return body;
}

describe('who sees performance', () => {
  test('admins and team leaders see every active employee, as people sort; others see themselves alone', async () => {
    const admin = await service.registerCompany({ firstName: 'ada' });
    const zoe = await service.addEmployee(admin, { first_name: 'Zoë', last_name: 'A' });
    const emile = await service.addEmployee(admin, { first_name: 'Émile', last_name: 'B', isTeamLeader: true });
    const idle = await service.addEmployee(admin, { first_name: 'Idle' });
    const gone = await service.addEmployee(admin, { first_name: 'Gone' });
    await admin.patch(`/api/employees/${idle.employeeId}/`, { is_active: false });
    await admin.delete(`/api/employees/${gone.employeeId}/`);

    const everybody = [admin, emile, zoe].map(({ employeeId, name }) => [employeeId, name]);
    for (const actor of [admin, emile])
      expect((await listFor(actor)).map(({ employee_id, name }) => [employee_id, name])).toEqual(everybody);
    const [own, ...others] = await listFor(zoe);
    expect(others).toEqual([]);
    expect(own).toEqual((await listFor(admin)).at(-1));
  });

  test('nobody sees that of another company', async () => {
    const admin = await service.registerCompany();
    const neighbour = await service.registerCompany();
    const foreign = await admin.get(`/api/performance/${neighbour.companyId}/`);
    expect(errorOf(foreign)).toEqual({ status: 404, code: 'NOT_FOUND' });
  });
});

describe('the performance of an employee', () => {
  test('is all zeros, without a rate and without activity, at first', async () => {
    const admin = await service.registerCompany();
    expect(await rowOf(admin)).toEqual({
      employee_id: admin.employeeId,
      name: admin.name,
      loggedHours: 0,
      tasksAssigned: 0,
      tasksCompleted: 0,
      tasksOverdue: 0,
      onTimeRate: null,
      commentsPosted: 0,
      lastActivityAt: null,
    });
  });

  test('counts the tasks that they own, and follows them to others', async () => {
    const admin = await service.registerCompany();
    const grace = await service.addEmployee(admin);
    const { projectId, taskId } = await startWork(admin);
    const [first, second] = [await addTask(grace, projectId), await addTask(grace, projectId)];
    await setTask(admin, first, { dueDate: '2026-01-01' });
    await setTask(admin, second, { dueDate: '2999-01-01', status: 'done' });
    expect(await rowOf(grace)).toMatchObject({ tasksAssigned: 2, tasksCompleted: 1, tasksOverdue: 1, onTimeRate: 1 });
    await setTask(admin, taskId, { owner_id: grace.employeeId });
    await setTask(admin, first, { status: 'done' });
    expect(await rowOf(grace)).toMatchObject({ tasksAssigned: 3, tasksCompleted: 2, tasksOverdue: 0, onTimeRate: 0.5 });
    expect(await rowOf(admin)).toMatchObject({ tasksAssigned: 0, tasksCompleted: 0, onTimeRate: null });
    await setTask(admin, first, { dueDate: null });
    expect(await rowOf(grace)).toMatchObject({ tasksCompleted: 2, onTimeRate: 1 });
    await admin.delete(`/api/tasks/${second}/`);
    expect(await rowOf(grace)).toMatchObject({ tasksAssigned: 2, tasksCompleted: 1, onTimeRate: null });
    await admin.delete(`/api/projects/${projectId}/`);
    expect(await rowOf(grace)).toMatchObject({ tasksAssigned: 0, tasksCompleted: 0, onTimeRate: null });
  });

  test('calls a task done in time by the days of the company, whatever its zone was then', async () => {
    const admin = await service.registerCompany();
    const { taskId } = await startWork(admin);
    const rateIn = async (timezone: string) => {
      expect((await admin.put(`/company/${admin.companyId}/update/`, { timezone })).status).toBe(200);
      return (await rowOf(admin))['onTimeRate'];
    };
    await setTask(admin, taskId, { status: 'done', dueDate: dayIn('Pacific/Pago_Pago') });
    expect(await rateIn('Pacific/Pago_Pago')).toBe(1);
    expect(await rateIn('Pacific/Kiritimati')).toBe(0);
    expect(await rateIn('Pacific/Pago_Pago')).toBe(1);
  });

  test('counts comments that stand, also where their task has gone', async () => {
    const admin = await service.registerCompany();
    const grace = await service.addEmployee(admin);
    const { taskId } = await startWork(admin);
    const first = await comment(grace, taskId);
    await comment(grace, taskId);
    const reply = await admin.post('/api/task-chats/', {
      taskId,
      sender: admin.employeeId,
      message: 'Thanks',
      reply_to: first._id,
    });
    expect([(await rowOf(grace))['commentsPosted'], (await rowOf(admin))['commentsPosted']]).toEqual([2, 1]);
    // A tombstone first, and then not even that.
    await grace.delete(`/api/taskchat/${first._id}/`);
    expect((await rowOf(grace))['commentsPosted']).toBe(1);
    await admin.delete(`/api/taskchat/${reply.body._id}/`);
    expect([(await rowOf(grace))['commentsPosted'], (await rowOf(admin))['commentsPosted']]).toEqual([1, 0]);
    await admin.delete(`/api/tasks/${taskId}/`);
    expect((await rowOf(grace))['commentsPosted']).toBe(1);
  });

  test('says when they were last at work, never later than now, and takes that back', async () => {
    const admin = await service.registerCompany();
    const grace = await service.addEmployee(admin);
    const { projectId, taskId } = await startWork(admin);
    const last = async () => (await rowOf(grace))['lastActivityAt'];
    const early = await log(grace, taskId, hoursFromNow(-60), hoursFromNow(-50));
    // Began later and ended earlier than the one before the last.
    await log(grace, taskId, hoursFromNow(-59), hoursFromNow(-58));
    expect(await last()).toBe(early.endTime);
    const task = await addTask(grace, projectId);
    await setTask(admin, task, { status: 'done' });
    const completed = (await admin.get(`/api/tasks/${task}/`)).body.completedAt;
    expect(await last()).toBe(completed);
    const said = await comment(grace, taskId);
    expect(await last()).toBe(said.createdAt);
    const ahead = await log(grace, taskId, hoursFromNow(-1), hoursFromNow(3));
    const before = service.clock.now().toISOString();
    const now = String(await last());
    expect([now >= before, now <= service.clock.now().toISOString()]).toEqual([true, true]);

    await grace.delete(`/api/tasklogs/delete/${ahead._id}/`);
    expect(await last()).toBe(said.createdAt);
    await grace.delete(`/api/taskchat/${said._id}/`);
    expect(await last()).toBe(completed);
    await setTask(admin, task, { status: 'todo' });
    expect(await last()).toBe(early.endTime);
  });

  test('has all time that they logged, rounded once', async () => {
    const admin = await service.registerCompany();
    const { taskId } = await startWork(admin);
    for (const hours of [10, 20, 30])
      await log(admin, taskId, hoursFromNow(-hours), new Date(hoursFromNow(-hours).getTime() + 12_000));
    expect((await rowOf(admin))['loggedHours']).toBe(0.01);
    await admin.delete(`/api/tasks/${taskId}/`);
    expect((await rowOf(admin))['loggedHours']).toBe(0.01);
  });
});
