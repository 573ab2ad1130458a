import { describe, expect, test, vi } from 'vitest';
import { verifyTotals } from '../../../db/derived/verify-work-time.ts';
import { errorOf, type Actor } from '../../support/actor.ts';
import { startService } from '../../support/service.ts';
import { startWork } from '../../support/work.ts';

const service = await startService();
const { clock } = service;
const { db } = service.database;
const admin = await service.registerCompany();
const leader = await service.addEmployee(admin, { isTeamLeader: true });
const neighbour = await service.registerCompany({ name: 'Next Door' });
const theirs = await startWork(neighbour);

const start = (actor: Actor, taskId: number, description?: string | null) =>
  actor.post('/api/tasklogs/timer/start/', { taskId, description });
const stop = (actor: Actor, body?: object) => actor.post('/api/tasklogs/timer/stop/', body);
const discard = (actor: Actor, employeeId = actor.employeeId) => actor.delete(`/api/tasklogs/timer/${employeeId}/`);
const timerOf = (actor: Actor, employeeId = actor.employeeId) => actor.get(`/api/tasklogs/timer/${employeeId}/`);
const logsOf = async (taskId: number) => (await admin.get(`/taskLogs/task/${taskId}/`)).body;
const loggedHours = async (projectId: number) => (await admin.get(`/api/projects/${projectId}/`)).body.loggedHours;

async function notificationsOf(actor: Actor): Promise<string[]> {
  await service.drain();
  const { body } = await actor.get(`/notifications/recipient/${actor.employeeId}/`);
  return body.results.map(({ title }: { title: string }) => title);
}

describe('a timer', () => {
  test('runs from its start to its stop, and becomes a task log that no hand has entered', async () => {
    const grace = await service.addEmployee(admin);
    const { projectId, taskId } = await startWork(admin);
    const started = await start(grace, taskId, ' Cutting gears ');
    const running = {
      taskId,
      userId: grace.employeeId,
      startTime: expect.stringMatching(/^\d{4}-.*Z$/),
      description: 'Cutting gears',
    };
    expect(started).toMatchObject({ status: 200 });
    expect(started.body).toEqual(running);
    expect((await timerOf(grace)).body).toEqual(started.body);
    expect(await logsOf(taskId)).toEqual({ taskLogs: [], totalSeconds: 0 });

    clock.advance({ hours: 2 });
    const stopped = await stop(grace);
    expect(stopped.status).toBe(200);
    expect(stopped.body).toEqual({
      ...running,
      _id: expect.any(Number),
      projectId,
      startTime: started.body.startTime,
      endTime: stopped.body.createdAt,
      durationSeconds: expect.any(Number),
      manualAdd: false,
      billable: true,
      charge: null,
      createdAt: expect.any(String),
      updatedAt: stopped.body.createdAt,
    });
    expect(stopped.body.durationSeconds).toBeGreaterThanOrEqual(7200);
    expect((await logsOf(taskId)).taskLogs).toEqual([stopped.body]);
    expect(await loggedHours(projectId)).toBe(2);
    expect((await timerOf(grace)).body).toEqual({ timer: null });
    expect(errorOf(await stop(grace))).toEqual({ status: 409, code: 'TIMER_NOT_RUNNING' });
  });

  test('keeps the words that it was started with, unless it is stopped with others or with none', async () => {
    const grace = await service.addEmployee(admin);
    const { taskId } = await startWork(admin);
    const described = async (body?: object) => {
      await start(grace, taskId, 'first');
      clock.advance({ minutes: 1 });
      return (await stop(grace, body)).body.description;
    };
    expect(await described()).toBe('first');
    expect(await described({ description: 'second' })).toBe('second');
    expect(await described({ description: null })).toBeNull();
    const tooLong = await start(grace, taskId, 'x'.repeat(10_001));
    expect(errorOf(tooLong)).toEqual({ status: 400, code: 'VALIDATION_FAILED', issues: ['description'] });
    expect((await timerOf(grace)).body).toEqual({ timer: null });
  });

  test('lasts a second at least', async () => {
    const grace = await service.addEmployee(admin);
    const { taskId } = await startWork(admin);
    await start(grace, taskId);
    const { body } = await stop(grace);
    expect(Date.parse(body.endTime) - Date.parse(body.startTime)).toBeGreaterThanOrEqual(1000);
    expect(body.durationSeconds).toBeGreaterThanOrEqual(1);
  });

  test('that starts as an entered log does is logged beside it', async () => {
    const grace = await service.addEmployee(admin);
    const { projectId, taskId } = await startWork(admin);
    const started = await start(grace, taskId);
    const from = Date.parse(started.body.startTime);
    for (const ms of [0, 1])
      await grace.post('/tasklog/create/', {
        task_id: taskId,
        employee_id: grace.employeeId,
        start_time: new Date(from + ms).toISOString(),
        end_time: new Date(from + 3_600_000).toISOString(),
      });
    clock.advance({ hours: 1 });
    const { status, body } = await stop(grace);
    expect([status, Date.parse(body.startTime)]).toEqual([200, from + 2]);
    expect((await logsOf(taskId)).taskLogs).toHaveLength(3);
    expect(await loggedHours(projectId)).toBe(3);
  });

  test('is one’s own, and one at a time, also when many start at once', async () => {
    const [grace, joan] = [await service.addEmployee(admin), await service.addEmployee(admin)];
    const works = [await startWork(admin), await startWork(admin)];
    const answers = await Promise.all(Array.from({ length: 10 }, (_, n) => start(grace, works[n % 2]!.taskId)));
    const won = answers.filter(({ status }) => status === 200);
    expect(won).toHaveLength(1);
    for (const answer of answers.filter(({ status }) => status !== 200))
      expect(errorOf(answer)).toEqual({ status: 409, code: 'TIMER_RUNNING' });
    expect((await timerOf(grace)).body).toEqual(won[0]!.body);
    expect((await start(joan, works[0]!.taskId)).status).toBe(200);
    expect((await timerOf(grace)).body).toEqual(won[0]!.body);
  });

  test('is stopped by exactly one of many who stop it at once', async () => {
    const grace = await service.addEmployee(admin);
    const { projectId, taskId } = await startWork(admin);
    await start(grace, taskId);
    clock.advance({ hours: 1 });
    const answers = await Promise.all(Array.from({ length: 10 }, () => stop(grace)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const answer of answers.filter(({ status }) => status !== 200))
      expect(errorOf(answer)).toEqual({ status: 409, code: 'TIMER_NOT_RUNNING' });
    expect((await logsOf(taskId)).taskLogs).toHaveLength(1);
    expect(await loggedHours(projectId)).toBe(1);
  });

  test('keeps its time where its task, or the project, is deleted while it runs, or moves', async () => {
    const grace = await service.addEmployee(admin);
    const [gone, dropped, moved, to] = [
      await startWork(admin),
      await startWork(admin),
      await startWork(admin),
      await startWork(admin),
    ];
    await start(grace, gone.taskId);
    await admin.delete(`/api/tasks/${gone.taskId}/`);
    clock.advance({ hours: 1 });
    expect(await stop(grace)).toMatchObject({ status: 200, body: { taskId: gone.taskId, projectId: gone.projectId } });
    expect(await loggedHours(gone.projectId)).toBe(1);

    await start(grace, dropped.taskId);
    await admin.delete(`/api/projects/${dropped.projectId}/`);
    clock.advance({ hours: 1 });
    expect((await stop(grace)).status).toBe(200);

    await start(grace, moved.taskId);
    await admin.patch(`/api/tasks/${moved.taskId}/`, { projectId: to.projectId });
    clock.advance({ hours: 1 });
    expect((await stop(grace)).body.projectId).toBe(to.projectId);
    expect([await loggedHours(moved.projectId), await loggedHours(to.projectId)]).toEqual([0, 1]);
    expect((await verifyTotals(db, admin.companyId)).differences).toEqual([]);
  });

  test('that takes its project over the allocated hours notifies the admins', async () => {
    const grace = await service.addEmployee(admin);
    const { projectId, taskId } = await startWork(admin, { allocatedHours: 1 });
    await start(grace, taskId);
    clock.advance({ hours: 2 });
    await stop(grace);
    await service.drain();
    const rows = await db
      .selectFrom('notifications')
      .where('company_id', '=', admin.companyId)
      .where('project_id', '=', projectId)
      .select('recipient_id')
      .execute();
    expect(rows).toEqual([{ recipient_id: admin.employeeId }]);
  });

  test('is refused on a task that is not there: another company’s, an absent and a deleted one', async () => {
    const grace = await service.addEmployee(admin);
    const gone = await startWork(admin);
    await admin.delete(`/api/tasks/${gone.taskId}/`);
    for (const taskId of [theirs.taskId, 987_654, gone.taskId]) {
      const answer = await start(grace, taskId);
      expect(errorOf(answer)).toEqual({ status: 400, code: 'VALIDATION_FAILED', issues: ['taskId'] });
      expect(answer.body.issues[0].code).toBe('not_found');
    }
    expect((await timerOf(grace)).body).toEqual({ timer: null });
  });
});

describe('a timer that is discarded', () => {
  test('leaves no log, and is gone once', async () => {
    const grace = await service.addEmployee(admin);
    const { taskId } = await startWork(admin);
    await start(grace, taskId);
    clock.advance({ minutes: 5 });
    const answers = await Promise.all(Array.from({ length: 8 }, () => discard(grace)));
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, ...Array(7).fill(409)]);
    expect((await timerOf(grace)).body).toEqual({ timer: null });
    expect(await logsOf(taskId)).toEqual({ taskLogs: [], totalSeconds: 0 });
    expect(errorOf(await discard(admin, grace.employeeId))).toEqual({ status: 409, code: 'TIMER_NOT_RUNNING' });
  });

  test('is one’s own, or one that an admin discards', async () => {
    const grace = await service.addEmployee(admin);
    const { taskId } = await startWork(admin);
    await start(grace, taskId);
    expect(errorOf(await discard(leader, grace.employeeId))).toEqual({ status: 403, code: 'FORBIDDEN' });
    expect(errorOf(await discard(neighbour, grace.employeeId))).toEqual({ status: 404, code: 'NOT_FOUND' });
    expect((await timerOf(grace)).body).toMatchObject({ taskId });
    expect((await discard(admin, grace.employeeId)).body).toEqual({ success: true });
    expect((await timerOf(grace)).body).toEqual({ timer: null });
  });
});

describe('a timer of somebody who leaves', () => {
  test.each(['deactivated', 'deleted'])(
    'stops at the moment at which they are %s, and its time is logged',
    async (how) => {
      const [grace, linus] = [await service.addEmployee(admin), await service.addEmployee(admin)];
      const { projectId, taskId } = await startWork(admin);
      const began = clock.now();
      await start(grace, taskId, 'Cutting gears');
      await start(linus, taskId);
      clock.advance({ hours: 2 });
      const path = `/api/employees/${grace.employeeId}/`;
      const left = await (how === 'deleted' ? admin.delete(path) : admin.patch(path, { is_active: false }));
      expect(left.status).toBe(200);
      // The clock goes on while the test runs.
      const secondsMax = Math.ceil((clock.now().getTime() - began.getTime()) / 1000);
      clock.advance({ hours: 1 });
      await service.drain();
      const { taskLogs } = await logsOf(taskId);
      expect(taskLogs).toMatchObject([{ userId: grace.employeeId, description: 'Cutting gears', manualAdd: false }]);
      const { durationSeconds } = taskLogs[0]!;
      expect(durationSeconds).toBeGreaterThanOrEqual(7200);
      expect(durationSeconds).toBeLessThanOrEqual(secondsMax);
      expect(await loggedHours(projectId)).toBeCloseTo(durationSeconds / 3600, 2);
      expect((await timerOf(linus)).body).toMatchObject({ taskId });
    },
  );
});

describe('a timer left running', () => {
  test('is closed at 24 hours without anybody stopping it, says so, and tells its owner once', async () => {
    const grace = await service.addEmployee(admin);
    const { projectId, taskId } = await startWork(admin);
    const { body: timer } = await start(grace, taskId, 'Cutting gears');
    clock.advance({ hours: 23, minutes: 59 });
    await service.drain();
    expect((await timerOf(grace)).body).toEqual(timer);
    clock.advance({ hours: 2 });
    await service.drain();
    expect((await timerOf(grace)).body).toEqual({ timer: null });

    const { taskLogs } = await logsOf(taskId);
    expect(taskLogs).toMatchObject([
      {
        userId: grace.employeeId,
        startTime: timer.startTime,
        endTime: new Date(Date.parse(timer.startTime) + 86_400_000).toISOString(),
        durationSeconds: 86_400,
        description: 'Cutting gears\nClosed automatically after 24 hours.',
        manualAdd: false,
      },
    ]);
    expect(await loggedHours(projectId)).toBe(24);
    expect(errorOf(await stop(grace))).toEqual({ status: 409, code: 'TIMER_NOT_RUNNING' });
    expect(await notificationsOf(grace)).toEqual(['Your timer was closed after 24 hours']);
    expect((await verifyTotals(db, admin.companyId)).differences).toEqual([]);
  });

  test('has the subscribers of its owner woken at its commit, not by the read once a second', async () => {
    const grace = await service.addEmployee(admin);
    const { taskId } = await startWork(admin);
    await start(grace, taskId);
    clock.advance({ hours: 25 });
    const notify = vi.spyOn(service.app.services.streams, 'notify');
    await service.drain();
    expect(notify.mock.calls.flat(2)).toContain(`${admin.companyId} recipient ${grace.employeeId}`);
  });

  test('is closed at 24 hours by a late stop or a new start, which say so', async () => {
    const grace = await service.addEmployee(admin);
    const { taskId } = await startWork(admin);
    await start(grace, taskId);
    clock.advance({ hours: 30 });
    const { body } = await stop(grace, { description: 'x'.repeat(10_000) });
    expect(body.durationSeconds).toBe(86_400);
    expect(body.description).toHaveLength(10_000);
    expect(body.description).toMatch(/x\nClosed automatically after 24 hours\.$/);

    await start(grace, taskId);
    clock.advance({ hours: 24 });
    const again = await start(grace, taskId, 'Next');
    expect(again.status).toBe(200);
    expect((await logsOf(taskId)).taskLogs[0]).toMatchObject({
      durationSeconds: 86_400,
      description: 'Closed automatically after 24 hours.',
    });
    await service.drain();
    expect((await timerOf(grace)).body).toEqual(again.body);
    expect(await notificationsOf(grace)).toEqual([]);
  });

  test('that is closed at 24 hours keeps whole characters of a long description', async () => {
    const grace = await service.addEmployee(admin);
    const { taskId } = await startWork(admin);
    await start(grace, taskId);
    clock.advance({ hours: 24 });
    const { body } = await stop(grace, { description: '😀'.repeat(5_000) });
    expect(body.description).toBe(`${'😀'.repeat(4_981)}\nClosed automatically after 24 hours.`);
  });

  test('is not what another one of the same person is taken for, stopped and started since', async () => {
    const grace = await service.addEmployee(admin);
    const { taskId } = await startWork(admin);
    await start(grace, taskId);
    clock.advance({ hours: 1 });
    await stop(grace);
    const { body: second } = await start(grace, taskId);
    clock.advance({ hours: 23, minutes: 30 });
    await service.drain();
    expect((await timerOf(grace)).body).toEqual(second);
  });
});

describe('the timer of an employee', () => {
  test('is read by themself, team leaders and admins, and by no other colleague', async () => {
    const [grace, joan] = [await service.addEmployee(admin), await service.addEmployee(admin)];
    const { taskId } = await startWork(admin);
    const { body } = await start(grace, taskId);
    for (const person of [grace, leader, admin])
      expect(await timerOf(person, grace.employeeId)).toMatchObject({ status: 200, body });
    expect(errorOf(await timerOf(joan, grace.employeeId))).toEqual({ status: 403, code: 'FORBIDDEN' });
    expect((await timerOf(joan)).body).toEqual({ timer: null });
  });

  test('is not there for another company, like that of nobody', async () => {
    const grace = await service.addEmployee(admin);
    const foreign = await timerOf(neighbour, grace.employeeId);
    const absent = await timerOf(neighbour, 987_654);
    expect(errorOf(foreign)).toEqual({ status: 404, code: 'NOT_FOUND' });
    expect({ ...foreign.body, requestId: '' }).toEqual({ ...absent.body, requestId: '' });
  });
});
