import { describe, expect, test } from 'vitest';
import { errorOf, type Actor } from '../../support/actor.ts';
import { startService } from '../../support/service.ts';
import { addTask, startWork } from '../../support/work.ts';

const service = await startService();
const admin = await service.registerCompany({ firstName: 'Ada' });
const leader = await service.addEmployee(admin, { first_name: 'lea', last_name: 'Der', isTeamLeader: true });
const grace = await service.addEmployee(admin, { first_name: 'Grace', last_name: 'H' });
const neighbour = await service.registerCompany({ name: 'Next Door' });
const engine = await startWork(admin, { name: 'Engine' });
const loom = await startWork(admin, { name: 'a loom' });
const theirs = await startWork(neighbour);

async function setZone(timezone: string): Promise<void> {
  expect((await admin.put(`/company/${admin.companyId}/update/`, { timezone })).status).toBe(200);
}

async function log(who: Actor, taskId: number, start: string, end: string): Promise<{ _id: number }> {
  const { status, body } = await admin.post('/tasklog/create/', {
    task_id: taskId,
    employee_id: who.employeeId,
    start_time: start,
    end_time: end,
  });
  expect({ status, issues: body.issues }).toEqual({ status: 200, issues: undefined });
  return body;
}

const sheetOf = (actor: Actor, query: string) => actor.get(`/api/timesheets/${admin.companyId}/?${query}`);

async function sheet(actor: Actor, query: string) {
  const { status, body } = await sheetOf(actor, query);
  expect({ status, issues: body.issues }).toEqual({ status: 200, issues: undefined });
  return body;
}

const hour = 3600;
const time = (seconds: number) => ({ seconds, hours: Math.round(seconds / 36) / 100 });
const named = ({ employeeId: userId, name }: Actor) => ({ userId, name });

// Berlin's clocks go forward on Sunday 29 March 2026: that day has 23 hours.
await setZone('Europe/Berlin');
await log(admin, engine.taskId, '2026-03-27T22:00:00Z', '2026-03-28T01:00:00Z'); // Friday 23:00 to Saturday 02:00
await log(admin, loom.taskId, '2026-03-28T22:30:00Z', '2026-03-29T22:30:00Z'); // Saturday 23:30 to Monday 00:30
await log(admin, loom.taskId, '2026-03-30T07:00:00Z', '2026-03-30T08:00:00Z');
await log(grace, engine.taskId, '2026-03-30T07:30:00Z', '2026-03-30T08:30:00.4Z');
await log(grace, engine.taskId, '2026-03-30T08:00:00Z', '2026-03-30T08:10:00Z');

const march = 'from=2026-03-01&to=2026-03-31';

describe('a timesheet', () => {
  test('has a row for each person and day, with logs cut at midnight of the company', async () => {
    expect(await sheet(admin, march)).toEqual({
      from: '2026-03-01',
      to: '2026-03-31',
      groupBy: 'day',
      rows: [
        { ...named(admin), date: '2026-03-27', ...time(hour) },
        { ...named(admin), date: '2026-03-28', ...time(2.5 * hour) },
        { ...named(admin), date: '2026-03-29', ...time(23 * hour) },
        { ...named(admin), date: '2026-03-30', ...time(1.5 * hour) },
        { ...named(grace), date: '2026-03-30', ...time(hour + 600) },
      ],
      totalSeconds: 28 * hour + hour + 600,
    });
  });

  test('has a row for each person and ISO week, with a column for each day of the range', async () => {
    const { rows } = await sheet(leader, 'from=2026-03-28&to=2026-03-30&groupBy=week');
    const none = { mon: null, tue: null, wed: null, thu: null, fri: null, sat: null, sun: null };
    const week13 = { week: '2026-W13', monday: '2026-03-23' };
    const week14 = { week: '2026-W14', monday: '2026-03-30' };
    expect(rows).toEqual([
      { ...named(admin), ...week13, ...none, sat: 2.5 * hour, sun: 23 * hour, ...time(25.5 * hour) },
      { ...named(admin), ...week14, ...none, mon: 1.5 * hour, ...time(1.5 * hour) },
      { ...named(grace), ...week14, ...none, mon: hour + 600, ...time(hour + 600) },
    ]);
    const whole = await sheet(grace, `${march}&groupBy=week`);
    expect(whole.rows).toEqual([{ ...named(grace), ...week14, ...none, mon: hour + 600, tue: 0, ...time(hour + 600) }]);
  });

  test('has a row for each project, task or person', async () => {
    const ofEngine = { projectId: engine.projectId, project: 'Engine' };
    const ofLoom = { projectId: loom.projectId, project: 'a loom' };
    const engineTime = time(3 * hour + hour + 600);
    expect((await sheet(admin, `${march}&groupBy=project`)).rows).toEqual([
      { ...ofLoom, ...time(25 * hour) },
      { ...ofEngine, ...engineTime },
    ]);
    expect((await sheet(admin, `${march}&groupBy=task`)).rows).toEqual([
      { taskId: engine.taskId, task: 'Turn the crank', ...ofEngine, ...engineTime },
      { taskId: loom.taskId, task: 'Turn the crank', ...ofLoom, ...time(25 * hour) },
    ]);
    expect((await sheet(admin, `${march}&groupBy=employee`)).rows).toEqual([
      { ...named(admin), ...time(28 * hour) },
      { ...named(grace), ...time(hour + 600) },
    ]);
  });

  test.each([
    ['the whole', 'from=2026-01-01&to=2026-12-31'],
    ['one day', 'from=2026-03-28&to=2026-03-28'],
    ['one person', `${march}&userId=${grace.employeeId}`],
    ['one project', `from=2026-03-28&to=2026-03-30&projectId=${engine.projectId}`],
    ['one person on one project', `${march}&userId=${admin.employeeId}&projectId=${loom.projectId}`],
  ])('has the same total for %s, however it is grouped', async (_what, query) => {
    const sheets = await Promise.all(
      ['day', 'week', 'project', 'task', 'employee'].map((groupBy) => sheet(admin, `${query}&groupBy=${groupBy}`)),
    );
    expect(sheets[0].totalSeconds).toBeGreaterThan(0);
    for (const { rows, totalSeconds } of sheets) {
      expect(totalSeconds).toBe(sheets[0].totalSeconds);
      expect(rows.reduce((sum: number, { seconds }: { seconds: number }) => sum + seconds, 0)).toBe(totalSeconds);
    }
  });

  test('narrows to a person, a project, or both', async () => {
    const rowsOf = async (query: string) => (await sheet(admin, `${march}&groupBy=task&${query}`)).rows;
    expect(await rowsOf(`userId=${grace.employeeId}`)).toMatchObject([{ taskId: engine.taskId, seconds: hour + 600 }]);
    expect(await rowsOf(`projectId=${loom.projectId}`)).toMatchObject([{ taskId: loom.taskId, seconds: 25 * hour }]);
    expect(await rowsOf(`userId=${grace.employeeId}&projectId=${loom.projectId}`)).toEqual([]);
    const days = (await sheet(admin, `${march}&userId=${admin.employeeId}&projectId=${engine.projectId}`)).rows;
    expect(days).toMatchObject([
      { date: '2026-03-27', seconds: hour },
      { date: '2026-03-28', seconds: 2 * hour },
    ]);
  });

  test('keeps the time of deleted tasks and of former employees', async () => {
    const former = await service.addEmployee(admin);
    const taskId = await addTask(admin, engine.projectId);
    await log(former, taskId, '2024-05-01T10:00:00Z', '2024-05-01T11:00:00Z');
    await admin.delete(`/api/tasks/${taskId}/`);
    await admin.delete(`/api/employees/${former.employeeId}/`);
    const may = 'from=2024-05-01&to=2024-05-31';
    for (const groupBy of ['day', 'task', 'project', 'employee'])
      expect((await sheet(admin, `${may}&groupBy=${groupBy}`)).rows).toMatchObject([{ seconds: hour }]);
    expect((await sheet(admin, `${may}&userId=${former.employeeId}`)).totalSeconds).toBe(hour);
  });

  test('follows the company into another time zone', async () => {
    await setZone('UTC');
    const { rows, totalSeconds } = await sheet(admin, `${march}&userId=${admin.employeeId}`);
    expect([rows.map(({ seconds }: { seconds: number }) => seconds / hour), totalSeconds]).toEqual([
      [2, 2.5, 22.5, 1],
      28 * hour,
    ]);
    await setZone('Europe/Berlin');
  });
});

describe('who sees a timesheet', () => {
  test('admins and team leaders see everybody, others themselves and nobody else', async () => {
    const all = await sheet(admin, march);
    expect(await sheet(leader, march)).toEqual(all);
    const own = await sheet(grace, march);
    expect(own.rows).toEqual(all.rows.filter(({ userId }: { userId: number }) => userId === grace.employeeId));
    expect(await sheet(grace, `${march}&userId=${grace.employeeId}`)).toEqual(own);
    expect(await sheet(admin, `${march}&userId=${grace.employeeId}`)).toEqual(own);
    for (const format of ['json', 'csv'])
      expect(errorOf(await sheetOf(grace, `${march}&userId=${admin.employeeId}&format=${format}`))).toEqual({
        status: 403,
        code: 'FORBIDDEN',
      });
  });

  test('nobody sees that of another company', async () => {
    const foreign = await neighbour.get(`/api/timesheets/${admin.companyId}/?${march}`);
    expect(errorOf(foreign)).toEqual({ status: 404, code: 'NOT_FOUND' });
    for (const field of [`userId=${neighbour.employeeId}`, `projectId=${theirs.projectId}`]) {
      // Whether the caller may is not said before it is known to be there.
      const { status, body } = await sheetOf(field.startsWith('user') ? grace : admin, `${march}&${field}`);
      expect([status, body.issues]).toMatchObject([400, [{ path: [field.split('=')[0]], code: 'not_found' }]]);
    }
  });
});

describe('a timesheet is refused', () => {
  test.each([
    ['without days', '', ['from', 'to']],
    ['for a day that does not exist', 'from=2026-02-30&to=2026-03-31', ['from']],
    ['for days the wrong way round', 'from=2026-03-02&to=2026-03-01', ['to']],
    ['for more than 366 days', 'from=2025-03-01&to=2026-03-02', ['to']],
    ['for an unknown grouping', `${march}&groupBy=month`, ['groupBy']],
    ['in an unknown format', `${march}&format=ods`, ['format']],
    ['for what is no identifier', `${march}&userId=me&projectId=0`, ['userId', 'projectId']],
  ])('%s', async (_what, query, issues) => {
    expect(errorOf(await sheetOf(admin, query))).toEqual({ status: 400, code: 'VALIDATION_FAILED', issues });
  });

  test('and is not for exactly 366 days, nor at the ends of the calendar', async () => {
    for (const range of [
      'from=2024-01-01&to=2024-12-31',
      'from=9999-12-31&to=9999-12-31',
      'from=0001-01-01&to=0001-12-31',
    ])
      expect((await sheetOf(admin, range)).status).toBe(200);
  });
});

test('over tRPC a timesheet is typed, and a file is refused', async () => {
  const range = { company_id: admin.companyId, from: '2026-03-01', to: '2026-03-31' };
  const answer = await admin.trpc.timesheets.get.query(range);
  expect(answer).toEqual(await sheet(admin, march));
  expect(answer.totalSeconds).toBe(29 * hour + 600);
  await expect(admin.trpc.timesheets.get.query({ ...range, format: 'csv' })).rejects.toMatchObject({
    data: { code: 'VALIDATION_FAILED', issues: [{ path: ['format'] }] },
  });
});

test('no row has zero seconds, whatever the rows are', async () => {
  // Less than half a second before midnight in Berlin: that part rounds to nothing.
  await log(grace, engine.taskId, '2026-05-04T21:59:59.8Z', '2026-05-04T22:00:10Z');
  await log(leader, loom.taskId, '2026-05-06T09:00:00Z', '2026-05-06T09:00:00.3Z');
  const may = 'from=2026-05-01&to=2026-05-31';
  const rowsOf = async (groupBy: string, range = may) => (await sheet(admin, `${range}&groupBy=${groupBy}`)).rows;
  expect(await rowsOf('day')).toEqual([{ ...named(grace), date: '2026-05-05', ...time(10) }]);
  expect(await rowsOf('week')).toMatchObject([{ ...named(grace), mon: 0, tue: 10, seconds: 10 }]);
  for (const groupBy of ['employee', 'project', 'task'])
    expect(await rowsOf(groupBy)).toEqual([expect.objectContaining({ seconds: 10 })]);
  for (const groupBy of ['day', 'week', 'employee', 'project', 'task']) {
    expect(await rowsOf(groupBy, 'from=2026-05-04&to=2026-05-04')).toEqual([]);
    const csv = await sheetOf(admin, `from=2026-05-04&to=2026-05-04&groupBy=${groupBy}&format=csv`);
    expect(csv.status).toBe(200);
  }
});
