import { describe, expect, test } from 'vitest';
import { errorOf } from '../../support/actor.ts';
import { startService } from '../../support/service.ts';
import { addTask, startWork } from '../../support/work.ts';

const service = await startService();
const { clock } = service;
const admin = await service.registerCompany();
const leader = await service.addEmployee(admin, { isTeamLeader: true });
const grace = await service.addEmployee(admin);
const joan = await service.addEmployee(admin);
const neighbour = await service.registerCompany({ name: 'Next Door' });
const theirs = await startWork(neighbour);

type Input = Record<string, unknown>;

/** Nine to half past ten, of Grace, with what a test changes. */
const entry = (taskId: number, changes: Input = {}): Input => ({
  task_id: taskId,
  employee_id: grace.employeeId,
  start_time: '2025-03-03T09:00:00Z',
  end_time: '2025-03-03T10:30:00Z',
  ...changes,
});

const logsOf = async (taskId: number) => (await admin.get(`/taskLogs/task/${taskId}/`)).body;
const loggedHours = async (projectId: number) => (await admin.get(`/api/projects/${projectId}/`)).body.loggedHours;

describe('a new task log', () => {
  test('is answered whole, in UTC with its milliseconds, as entered by hand', async () => {
    const { projectId, taskId } = await startWork(admin);
    const { status, body } = await grace.post(
      '/tasklog/create/',
      entry(taskId, {
        start_time: '2025-03-03T11:00:00.123+02:00',
        end_time: '2025-03-03T04:30:01.123-05:00',
        description: ' Wrote the first program ',
        manualAdd: false,
        _id: 1,
      }),
    );
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        _id: expect.any(Number),
        taskId,
        userId: grace.employeeId,
        projectId,
        startTime: '2025-03-03T09:00:00.123Z',
        endTime: '2025-03-03T09:30:01.123Z',
        durationSeconds: 1801,
        description: 'Wrote the first program',
        manualAdd: true,
        billable: true,
        charge: null,
        createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        updatedAt: body.createdAt,
      },
    });
    expect(await logsOf(taskId)).toEqual({ taskLogs: [body], totalSeconds: 1801 });
  });

  test('needs no description, and takes one of 10,000 characters', async () => {
    const { taskId } = await startWork(admin);
    expect((await grace.post('/tasklog/create/', entry(taskId))).body.description).toBeNull();
    const start_time = '2025-03-03T09:01:00Z';
    expect((await grace.post('/tasklog/create/', entry(taskId, { start_time, description: null }))).status).toBe(200);
    const description = 'x'.repeat(10_000);
    const long = await grace.post(
      '/tasklog/create/',
      entry(taskId, { description, start_time: '2025-03-03T09:02:00Z' }),
    );
    expect(long.body.description).toBe(description);
  });

  test('adds its time to the project', async () => {
    const { projectId, taskId } = await startWork(admin);
    await grace.post('/tasklog/create/', entry(taskId));
    await joan.post('/tasklog/create/', entry(taskId, { employee_id: joan.employeeId }));
    await grace.post('/tasklog/create/', entry(await addTask(admin, projectId)));
    expect(await loggedHours(projectId)).toBe(4.5);
  });

  test('adds as many seconds as it is answered to last, also where that is rounded', async () => {
    const { projectId, taskId } = await startWork(admin);
    const begun = Date.parse('2025-03-03T09:00:00.123Z');
    for (const [index, lastsMs] of [400, 500, 1_499, 1_500, 2_500, 3_501, 59_999].entries()) {
      const startMs = begun + index * 60_000;
      const times = {
        start_time: new Date(startMs).toISOString(),
        end_time: new Date(startMs + lastsMs).toISOString(),
      };
      expect((await grace.post('/tasklog/create/', entry(taskId, times))).status).toBe(200);
    }
    const { totalSeconds } = await logsOf(taskId);
    expect(totalSeconds).toBe(0 + 1 + 1 + 2 + 3 + 4 + 60);
    const { logged_seconds: kept } = await service.database.db
      .selectFrom('projects')
      .where('company_id', '=', admin.companyId)
      .where('project_id', '=', projectId)
      .select('logged_seconds')
      .executeTakeFirstOrThrow();
    expect(kept).toBe(totalSeconds);
  });

  test('is written by a team leader or an admin for somebody else, and by nobody else', async () => {
    const { projectId, taskId } = await startWork(admin);
    expect(errorOf(await joan.post('/tasklog/create/', entry(taskId)))).toEqual({ status: 403, code: 'FORBIDDEN' });
    const foreign = entry(taskId, { employee_id: neighbour.employeeId });
    expect(errorOf(await joan.post('/tasklog/create/', foreign))).toEqual({ status: 403, code: 'FORBIDDEN' });
    expect(await logsOf(taskId)).toEqual({ taskLogs: [], totalSeconds: 0 });
    expect(await loggedHours(projectId)).toBe(0);

    const byLeader = await leader.post('/tasklog/create/', entry(taskId));
    const byAdmin = await admin.post('/tasklog/create/', entry(taskId, { employee_id: joan.employeeId }));
    expect([byLeader.body.userId, byAdmin.body.userId]).toEqual([grace.employeeId, joan.employeeId]);
  });

  test.each<[string, Input, string[]]>([
    [
      'without its fields',
      { task_id: undefined, employee_id: undefined, start_time: undefined, end_time: undefined },
      ['task_id', 'employee_id', 'start_time', 'end_time'],
    ],
    ['with identifiers that are none', { task_id: '7', employee_id: 0 }, ['task_id', 'employee_id']],
    ['that ends before it starts', { end_time: '2025-03-03T08:59:59Z' }, ['end_time']],
    ['that ends as it starts', { end_time: '2025-03-03T10:00:00+01:00' }, ['end_time']],
    ['of more than 24 hours', { end_time: '2025-03-04T09:00:00.001Z' }, ['end_time']],
    [
      'on a day that does not exist',
      { start_time: '2026-02-30T09:00:00Z', end_time: '2026-02-30T10:00:00Z' },
      ['start_time', 'end_time'],
    ],
    ['at a time without an offset', { start_time: '2025-03-03T09:00:00' }, ['start_time']],
    ['at a number', { end_time: 1741000000 }, ['end_time']],
    ['with a NUL in its description', { description: 'a\0b' }, ['description']],
    ['with a longer description', { description: 'x'.repeat(10_001) }, ['description']],
    ['with a description that is no text', { description: 7 }, ['description']],
  ])('is refused %s, naming the fields', async (_, changes, issues) => {
    const { projectId, taskId } = await startWork(admin);
    const answer = await grace.post('/tasklog/create/', entry(taskId, changes));
    expect(errorOf(answer)).toEqual({ status: 400, code: 'VALIDATION_FAILED', issues });
    expect(await logsOf(taskId)).toEqual({ taskLogs: [], totalSeconds: 0 });
    expect(await loggedHours(projectId)).toBe(0);
  });

  test('lasts 24 hours at most, and is a day ahead of the service at most', async () => {
    const { taskId } = await startWork(admin);
    const dayLong = entry(taskId, { end_time: '2025-03-04T09:00:00Z' });
    expect((await grace.post('/tasklog/create/', dayLong)).body.durationSeconds).toBe(86_400);

    const inHours = (hours: number) => new Date(clock.now().getTime() + hours * 3_600_000).toISOString();
    const late = await grace.post(
      '/tasklog/create/',
      entry(taskId, { start_time: inHours(23), end_time: inHours(25) }),
    );
    expect(errorOf(late)).toMatchObject({ status: 400, issues: ['end_time'] });
    const later = entry(taskId, { start_time: inHours(25), end_time: inHours(26) });
    expect(errorOf(await grace.post('/tasklog/create/', later))).toMatchObject({ issues: ['start_time', 'end_time'] });
    clock.advance({ hours: 3 });
    expect((await grace.post('/tasklog/create/', later)).status).toBe(200);
  });

  test('is refused on a task that the company lacks, the same for absent, deleted and foreign ones', async () => {
    const { projectId, taskId } = await startWork(admin);
    expect((await admin.delete(`/api/tasks/${taskId}/`)).status).toBe(200);
    const answers = await Promise.all(
      [taskId, theirs.taskId, 999_999_999, Number.MAX_SAFE_INTEGER].map((id) =>
        admin.post('/tasklog/create/', entry(id)),
      ),
    );
    const texts = answers.map(({ status, body }) => JSON.stringify({ status, ...body, requestId: '' }));
    expect(new Set(texts).size).toBe(1);
    expect(answers[0]).toMatchObject({ status: 400, body: { issues: [{ path: ['task_id'], code: 'not_found' }] } });
    expect(await loggedHours(projectId)).toBe(0);
    expect((await neighbour.get(`/taskLogs/task/${theirs.taskId}/`)).body.taskLogs).toEqual([]);
  });

  test('is refused for anyone but an active employee, the same for absent, inactive, deleted and foreign ones', async () => {
    const { taskId } = await startWork(admin);
    const [idle, gone] = [await service.addEmployee(admin), await service.addEmployee(admin)];
    await admin.patch(`/api/employees/${idle.employeeId}/`, { is_active: false });
    expect((await admin.delete(`/api/employees/${gone.employeeId}/`)).status).toBe(200);
    const answers = await Promise.all(
      [idle.employeeId, gone.employeeId, neighbour.employeeId, 999_999_999].map((employee_id) =>
        leader.post('/tasklog/create/', entry(taskId, { employee_id })),
      ),
    );
    const texts = answers.map(({ status, body }) => JSON.stringify({ status, ...body, requestId: '' }));
    expect(new Set(texts).size).toBe(1);
    expect(answers[0]).toMatchObject({ status: 400, body: { issues: [{ path: ['employee_id'], code: 'not_found' }] } });
    expect((await logsOf(taskId)).taskLogs).toEqual([]);
  });

  test('is refused where the employee has one on the task from the same moment, and leaves the totals alone', async () => {
    const { projectId, taskId } = await startWork(admin);
    const first = await grace.post('/tasklog/create/', entry(taskId, { description: 'first' }));
    const again = entry(taskId, { start_time: '2025-03-03T10:00:00+01:00', end_time: '2025-03-03T12:00:00Z' });
    expect(errorOf(await grace.post('/tasklog/create/', again))).toEqual({ status: 409, code: 'DUPLICATE_TASK_LOG' });
    expect(await logsOf(taskId)).toEqual({ taskLogs: [first.body], totalSeconds: 5400 });
    expect(await loggedHours(projectId)).toBe(1.5);

    const others = [
      entry(taskId, { start_time: '2025-03-03T09:00:00.001Z' }),
      entry(taskId, { employee_id: joan.employeeId }),
      entry(await addTask(admin, projectId)),
    ];
    for (const other of others) expect((await admin.post('/tasklog/create/', other)).status).toBe(200);
  });

  test('is made once by 20 who send the same one at once', async () => {
    const { projectId, taskId } = await startWork(admin);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        (index % 2 === 0 ? grace : admin).post('/tasklog/create/', entry(taskId)),
      ),
    );
    const refused = answers.filter(({ status, body }) => status === 409 && body.code === 'DUPLICATE_TASK_LOG');
    expect([answers.filter(({ status }) => status === 200).length, refused.length]).toEqual([1, 19]);
    expect(await logsOf(taskId)).toMatchObject({ taskLogs: [{ durationSeconds: 5400 }], totalSeconds: 5400 });
    expect(await loggedHours(projectId)).toBe(1.5);
  });

  test('is refused over tRPC with the same code', async () => {
    const { taskId } = await startWork(admin);
    const input = entry(taskId) as Parameters<typeof grace.trpc.taskLogs.create.mutate>[0];
    const made = await grace.trpc.taskLogs.create.mutate(input);
    expect(made).toMatchObject({ taskId, durationSeconds: 5400 });
    await expect(grace.trpc.taskLogs.create.mutate(input)).rejects.toMatchObject({
      data: { code: 'DUPLICATE_TASK_LOG', httpStatus: 409 },
    });
  });
});

describe('the logs of a task', () => {
  test('are read by any employee, the newest start first, with the sum of their time', async () => {
    const { projectId, taskId } = await startWork(admin);
    await grace.post('/tasklog/create/', entry(await addTask(admin, projectId)));
    const starts = ['2025-03-03T09:00:00Z', '2025-03-03T10:00:00Z', '2024-12-31T23:30:00Z'];
    for (const [index, start_time] of starts.entries()) {
      const end_time = new Date(Date.parse(start_time) + (index + 1) * 60_000).toISOString();
      await grace.post('/tasklog/create/', entry(taskId, { start_time, end_time }));
    }
    const { status, body } = await joan.get(`/taskLogs/task/${taskId}/`);
    expect(status).toBe(200);
    expect(body.taskLogs.map((log: { startTime: string }) => log.startTime)).toEqual([
      '2025-03-03T10:00:00.000Z',
      '2025-03-03T09:00:00.000Z',
      '2024-12-31T23:30:00.000Z',
    ]);
    expect(body.totalSeconds).toBe(360);
  });

  test('are not found for another company, nor once the task is deleted', async () => {
    const { taskId } = await startWork(admin);
    await grace.post('/tasklog/create/', entry(taskId));
    const absent = await neighbour.get('/taskLogs/task/999999999/');
    const foreign = await neighbour.get(`/taskLogs/task/${taskId}/`);
    expect(errorOf(foreign)).toEqual({ status: 404, code: 'NOT_FOUND' });
    expect({ ...foreign.body, requestId: '' }).toEqual({ ...absent.body, requestId: '' });
    await admin.delete(`/api/tasks/${taskId}/`);
    expect(errorOf(await grace.get(`/taskLogs/task/${taskId}/`))).toEqual({ status: 404, code: 'NOT_FOUND' });
  });

  test('are not shown without a session', async () => {
    expect((await service.anonymous.get(`/taskLogs/task/${theirs.taskId}/`)).status).toBe(401);
    expect((await service.anonymous.post('/tasklog/create/', entry(theirs.taskId))).status).toBe(401);
  });
});
