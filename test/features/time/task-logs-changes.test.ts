import { describe, expect, test } from 'vitest';
import { errorOf, type Actor, type Answer } from '../../support/actor.ts';
import { readRowsOfCompany } from '../../support/all-rows.ts';
import { startService } from '../../support/service.ts';
import { addTask, startWork } from '../../support/work.ts';

const service = await startService();
const admin = await service.registerCompany();
const leader = await service.addEmployee(admin, { isTeamLeader: true });
const grace = await service.addEmployee(admin);
const joan = await service.addEmployee(admin);
const neighbour = await service.registerCompany({ name: 'Next Door' });

/** A log of Grace, from nine, of 90 minutes. */
async function logTime(taskId: number, changes: Record<string, unknown> = {}) {
  const { status, body } = await admin.post('/tasklog/create/', {
    task_id: taskId,
    employee_id: grace.employeeId,
    start_time: '2025-03-03T09:00:00.250Z',
    end_time: '2025-03-03T10:30:00.250Z',
    description: 'as it was',
    ...changes,
  });
  expect(status).toBe(200);
  return body;
}

const change = (who: Actor, log: { _id: number }, changes: unknown): Promise<Answer> =>
  who.put(`/tasklogs/${log._id}/`, changes);
const remove = (who: Actor, log: { _id: number }): Promise<Answer> => who.delete(`/api/tasklogs/delete/${log._id}/`);
const logsOf = async (taskId: number) => (await admin.get(`/taskLogs/task/${taskId}/`)).body.taskLogs;
const loggedHours = async (projectId: number) => (await admin.get(`/api/projects/${projectId}/`)).body.loggedHours;

describe('a changed task log', () => {
  test('keeps what is absent, and counts as entered by hand from then on', async () => {
    const { taskId } = await startWork(admin);
    const log = await logTime(taskId);
    await service.database.db
      .updateTable('task_logs')
      .set({ manual_add: false })
      .where('company_id', '=', admin.companyId)
      .where('task_log_id', '=', log._id)
      .execute();
    service.clock.advance({ minutes: 1 });
    const { status, body } = await change(grace, log, { description: 'said better', manualAdd: false, _id: 1 });
    expect({ status, body }).toEqual({
      status: 200,
      body: { ...log, description: 'said better', manualAdd: true, updatedAt: body.updatedAt },
    });
    expect(body.updatedAt > log.updatedAt).toBe(true);
    expect(await logsOf(taskId)).toEqual([body]);
    expect((await change(grace, log, { description: null })).body.description).toBeNull();
    expect((await change(grace, log, {})).body).toMatchObject({ startTime: log.startTime, endTime: log.endTime });
  });

  test('stays as the timer left it where every field that is named has the value that it had', async () => {
    const { taskId } = await startWork(admin);
    await grace.post('/api/tasklogs/timer/start/', { taskId, description: 'Cutting gears' });
    const { body: log } = await grace.post('/api/tasklogs/timer/stop/');
    const traces = () => readRowsOfCompany(service.database.db, admin.companyId, ['sessions', 'audit_log']);
    service.clock.advance({ minutes: 1 });
    await service.drain();
    const before = await traces();
    const { startTime, endTime, description, billable, userId } = log;
    for (const same of [{ description }, { startTime, endTime, description, billable, taskId, userId }])
      expect(await change(grace, log, same)).toMatchObject({ status: 200, body: log });
    expect(await traces()).toEqual(before);
    expect((await change(grace, log, { description, billable: !billable })).body.manualAdd).toBe(true);
  });

  test('takes its project along when it grows or shrinks', async () => {
    const { projectId, taskId } = await startWork(admin);
    const log = await logTime(taskId);
    const grown = await change(grace, log, { endTime: '2025-03-03T12:00:00.250Z' });
    expect([grown.body.durationSeconds, await loggedHours(projectId)]).toEqual([10_800, 3]);
    const moved = await change(grace, log, { startTime: '2025-03-03T14:30:00+03:00' });
    expect([moved.body.startTime, moved.body.durationSeconds]).toEqual(['2025-03-03T11:30:00.000Z', 1800]);
    expect(await loggedHours(projectId)).toBe(0.5);
  });

  test('takes its time along to another task, another project and another person', async () => {
    const from = await startWork(admin);
    const to = await startWork(admin);
    const log = await logTime(from.taskId);
    const sibling = await addTask(admin, from.projectId);
    expect((await change(grace, log, { taskId: sibling })).body).toMatchObject({ taskId: sibling });
    expect(await loggedHours(from.projectId)).toBe(1.5);

    const { body } = await change(admin, log, { taskId: to.taskId, userId: joan.employeeId });
    expect(body).toMatchObject({ taskId: to.taskId, projectId: to.projectId, userId: joan.employeeId });
    expect([await loggedHours(from.projectId), await loggedHours(to.projectId)]).toEqual([0, 1.5]);
    expect([await logsOf(sibling), await logsOf(to.taskId)]).toEqual([[], [body]]);
  });

  test('is written by its employee, team leaders and admins, and only they may hand it on', async () => {
    const { taskId } = await startWork(admin);
    const log = await logTime(taskId);
    const forbidden = { status: 403, code: 'FORBIDDEN' };
    expect(errorOf(await change(joan, log, { description: 'not mine' }))).toEqual(forbidden);
    expect(errorOf(await change(joan, log, { userId: joan.employeeId }))).toEqual(forbidden);
    expect(errorOf(await change(grace, log, { userId: joan.employeeId }))).toEqual(forbidden);
    expect(await logsOf(taskId)).toEqual([log]);
    expect((await change(leader, log, { userId: joan.employeeId })).status).toBe(200);
    expect(errorOf(await change(grace, log, { description: 'no longer mine' }))).toEqual(forbidden);
  });

  test.each<[Record<string, unknown>, string[]]>([
    [{ endTime: '2025-03-03T09:00:00.250Z' }, ['endTime']],
    [{ endTime: '2025-03-04T09:00:00.251Z' }, ['endTime']],
    [{ startTime: '2025-03-03T10:30:00.250Z' }, ['startTime']],
    [{ startTime: '2025-03-02T10:30:00.249Z' }, ['startTime']],
    [{ startTime: '2025-03-03T12:00:00Z', endTime: '2025-03-03T11:00:00Z' }, ['endTime']],
    [{ startTime: '2999-01-01T09:00:00Z', endTime: '2999-01-01T10:00:00Z' }, ['startTime', 'endTime']],
    [{ startTime: '2026-02-30T09:00:00Z' }, ['startTime']],
    [{ startTime: null, endTime: null, taskId: null, userId: null }, ['startTime', 'endTime', 'taskId', 'userId']],
    [{ description: 'a\0b' }, ['description']],
    [{ description: 'x'.repeat(10_001) }, ['description']],
  ])('is refused with %j, naming the fields', async (changes, issues) => {
    const { projectId, taskId } = await startWork(admin);
    const log = await logTime(taskId);
    expect(errorOf(await change(grace, log, changes))).toEqual({ status: 400, code: 'VALIDATION_FAILED', issues });
    expect([await logsOf(taskId), await loggedHours(projectId)]).toEqual([[log], 1.5]);
  });

  test('is refused on a task or for a person that the company lacks', async () => {
    const { projectId, taskId } = await startWork(admin);
    const log = await logTime(taskId);
    const theirs = await startWork(neighbour);
    const idle = await service.addEmployee(admin);
    await admin.patch(`/api/employees/${idle.employeeId}/`, { is_active: false });
    const deleted = await addTask(admin, projectId);
    await admin.delete(`/api/tasks/${deleted}/`);
    for (const id of [theirs.taskId, deleted, 999_999_999]) {
      const { status, body } = await change(admin, log, { taskId: id });
      expect({ status, issues: body.issues }).toMatchObject({
        status: 400,
        issues: [{ path: ['taskId'], code: 'not_found' }],
      });
    }
    for (const id of [neighbour.employeeId, idle.employeeId, 999_999_999]) {
      const { status, body } = await change(admin, log, { userId: id });
      expect({ status, issues: body.issues }).toMatchObject({
        status: 400,
        issues: [{ path: ['userId'], code: 'not_found' }],
      });
    }
    expect([await logsOf(taskId), await loggedHours(projectId)]).toEqual([[log], 1.5]);
  });

  test('is refused where it would meet another one, and leaves the totals alone', async () => {
    const [from, to] = [await startWork(admin), await startWork(admin)];
    const log = await logTime(from.taskId);
    const taken = await logTime(to.taskId, { end_time: '2025-03-03T11:00:00.250Z' });
    const duplicate = { status: 409, code: 'DUPLICATE_TASK_LOG' };
    expect(errorOf(await change(grace, log, { taskId: to.taskId, description: 'x' }))).toEqual(duplicate);
    expect([await logsOf(from.taskId), await logsOf(to.taskId)]).toEqual([[log], [taken]]);
    expect([await loggedHours(from.projectId), await loggedHours(to.projectId)]).toEqual([1.5, 2]);
  });

  test('takes a place once when 10 logs are moved to it at once', async () => {
    const { projectId, taskId } = await startWork(admin);
    const logs = [];
    for (let minute = 10; minute < 20; minute += 1)
      logs.push(await logTime(taskId, { start_time: `2025-03-03T08:${minute}:00Z`, end_time: '2025-03-03T10:00:00Z' }));
    const answers = await Promise.all(logs.map((log) => change(grace, log, { startTime: '2025-03-03T07:00:00Z' })));
    const refused = answers.filter(({ status, body }) => status === 409 && body.code === 'DUPLICATE_TASK_LOG');
    expect([answers.filter(({ status }) => status === 200).length, refused.length]).toEqual([1, 9]);
    const stored = await logsOf(taskId);
    expect(stored.filter((log: { startTime: string }) => log.startTime === '2025-03-03T07:00:00.000Z')).toHaveLength(1);
    const seconds = stored.reduce((sum: number, log: { durationSeconds: number }) => sum + log.durationSeconds, 0);
    expect(await loggedHours(projectId)).toBe(Math.round(seconds / 36) / 100);
  });
});

describe('a deleted task log', () => {
  test('is gone, and its time leaves the project', async () => {
    const { projectId, taskId } = await startWork(admin);
    const [log, other] = [await logTime(taskId), await logTime(taskId, { employee_id: joan.employeeId })];
    const { status, body } = await remove(grace, log);
    expect({ status, body }).toEqual({ status: 200, body: { success: true } });
    expect([await logsOf(taskId), await loggedHours(projectId)]).toEqual([[other], 1.5]);
    expect(errorOf(await remove(grace, log))).toEqual({ status: 404, code: 'NOT_FOUND' });
    expect((await logTime(taskId)).userId).toBe(grace.employeeId);
  });

  test('is deleted by its employee, a team leader or an admin, and by nobody else', async () => {
    const { projectId, taskId } = await startWork(admin);
    const log = await logTime(taskId);
    expect(errorOf(await remove(joan, log))).toEqual({ status: 403, code: 'FORBIDDEN' });
    expect([await logsOf(taskId), await loggedHours(projectId)]).toEqual([[log], 1.5]);
    expect((await remove(leader, log)).status).toBe(200);
    expect((await remove(admin, await logTime(taskId))).status).toBe(200);
  });

  test('leaves the totals once when it is deleted 10 times at once', async () => {
    const { projectId, taskId } = await startWork(admin);
    const log = await logTime(taskId);
    await logTime(taskId, { employee_id: joan.employeeId });
    const answers = await Promise.all(Array.from({ length: 10 }, () => remove(grace, log)));
    const gone = answers.filter(({ status }) => status === 404);
    expect([answers.filter(({ status }) => status === 200).length, gone.length]).toEqual([1, 9]);
    expect(await loggedHours(projectId)).toBe(1.5);
  });
});

describe('the log of another company or of a deleted task', () => {
  test('is not found, whatever is asked of it, and stays as it is', async () => {
    const { projectId, taskId } = await startWork(admin);
    const log = await logTime(taskId);
    const asked = [change(neighbour, log, { description: 'mine now' }), remove(neighbour, log)];
    const absent = { _id: 999_999_999 };
    asked.push(change(neighbour, absent, {}), remove(neighbour, absent), change(neighbour, log, { taskId: 'x' }));
    const [changed, removed, changedAbsent, removedAbsent, invalid] = await Promise.all(asked);
    for (const answer of [changed, removed, changedAbsent, removedAbsent]) {
      expect(errorOf(answer!)).toEqual({ status: 404, code: 'NOT_FOUND' });
      expect({ ...answer!.body, requestId: '' }).toEqual({ ...removedAbsent!.body, requestId: '' });
    }
    expect(errorOf(invalid!)).toMatchObject({ status: 400 });
    expect([await logsOf(taskId), await loggedHours(projectId)]).toEqual([[log], 1.5]);

    await admin.delete(`/api/tasks/${taskId}/`);
    expect(errorOf(await change(grace, log, {}))).toEqual({ status: 404, code: 'NOT_FOUND' });
    expect(errorOf(await remove(grace, log))).toEqual({ status: 404, code: 'NOT_FOUND' });
    expect(await loggedHours(projectId)).toBe(1.5);
  });
});
