import { describe, expect, test } from 'vitest';
import { verifyTotals } from '../../../db/derived/verify-work-time.ts';
import { errorOf, type Actor } from '../../support/actor.ts';
import { startService } from '../../support/service.ts';
import { addTask, startWork } from '../../support/work.ts';

const service = await startService();
const { db } = service.database;
const admin = await service.registerCompany();
const leader = await service.addEmployee(admin, { isTeamLeader: true });
const grace = await service.addEmployee(admin);
const joan = await service.addEmployee(admin);
const neighbour = await service.registerCompany({ name: 'Next Door' });
const theirs = await startWork(neighbour);

type Input = Record<string, unknown>;

const bulkOf = (employeeId: number) => `/tasklogs/bulk/create/${employeeId}/`;
const at = (time: string, day = '2025-03-03') => `${day}T${time}:00Z`;

/** An hour of Grace, from nine, with what a test changes. */
const entry = (taskId: number, changes: Input = {}): Input => ({
  taskId,
  userId: grace.employeeId,
  startTime: at('09:00'),
  endTime: at('10:00'),
  ...changes,
});

const logsOf = async (taskId: number) => (await admin.get(`/taskLogs/task/${taskId}/`)).body;
const differences = async (actor: Actor = admin) => (await verifyTotals(db, actor.companyId)).differences;

async function notified(projectId: number): Promise<number[]> {
  await service.drain();
  const rows = await db
    .selectFrom('notifications')
    .where('company_id', '=', admin.companyId)
    .where('project_id', '=', projectId)
    .where('title', 'like', '% is over its allocated hours')
    .select('recipient_id')
    .execute();
  return rows.map((row) => row.recipient_id);
}

describe('many task logs at once', () => {
  test('are answered whole and in the order of the entries, with the days and what they come to', async () => {
    const { projectId, taskId } = await startWork(admin);
    const other = await addTask(admin, projectId);
    const person = await service.addEmployee(admin);
    const userId = person.employeeId;
    const { status, body } = await person.post(bulkOf(userId), [
      entry(other, { userId, startTime: at('13:00'), endTime: at('14:00'), description: ' Cut ', manualAdd: false }),
      entry(taskId, { userId, startTime: '2025-03-03T11:00:00.250+02:00', endTime: at('10:00') }),
      entry(taskId, { userId, startTime: at('23:00'), endTime: at('00:20', '2025-03-04'), _id: 1, createdAt: 'x' }),
    ]);
    expect(status).toBe(200);
    const common = { userId, projectId, _id: expect.any(Number), createdAt: expect.any(String) };
    expect(body).toEqual({
      created: [
        {
          ...common,
          taskId: other,
          startTime: '2025-03-03T13:00:00.000Z',
          endTime: '2025-03-03T14:00:00.000Z',
          durationSeconds: 3600,
          description: 'Cut',
          manualAdd: false,
          billable: true,
          charge: null,
          updatedAt: body.created[0].createdAt,
        },
        expect.objectContaining({ taskId, startTime: '2025-03-03T09:00:00.250Z', manualAdd: true, description: null }),
        expect.objectContaining({ taskId, startTime: '2025-03-03T23:00:00.000Z', durationSeconds: 4800 }),
      ],
      skipped: [],
      days: [
        { date: '2025-03-03', workingHours: 3 },
        { date: '2025-03-04', workingHours: 0.33 },
      ],
      exceededProjects: [],
    });
    expect((await logsOf(taskId)).totalSeconds).toBe(3600 + 4800);
    expect((await admin.get(`/api/projects/${projectId}/`)).body.loggedHours).toBe(3.33);
    expect(await differences()).toEqual([]);
  });

  test('skip duplicates of stored logs and of earlier entries, saying which', async () => {
    const { taskId } = await startWork(admin);
    const first = await grace.post(bulkOf(grace.employeeId), [entry(taskId)]);
    const { status, body } = await grace.post(bulkOf(grace.employeeId), [
      entry(taskId, { startTime: '2025-03-03T10:00:00+01:00', endTime: at('12:00') }),
      entry(taskId, { startTime: at('11:00'), endTime: at('11:30'), description: 'first' }),
      entry(taskId, { startTime: at('11:00'), endTime: at('12:30'), description: 'second' }),
    ]);
    expect(status).toBe(200);
    expect(body.created).toMatchObject([{ description: 'first', durationSeconds: 1800 }]);
    const duplicate = { taskId, userId: grace.employeeId, reason: 'duplicate' };
    expect(body.skipped).toEqual([
      { ...duplicate, index: 0, startTime: '2025-03-03T09:00:00.000Z' },
      { ...duplicate, index: 2, startTime: '2025-03-03T11:00:00.000Z' },
    ]);
    expect((await logsOf(taskId)).taskLogs).toEqual([...body.created, ...first.body.created]);
    expect(await differences()).toEqual([]);
  });

  test('that are all duplicates change nothing, and tell the days as they are', async () => {
    const { projectId, taskId } = await startWork(admin, { allocatedHours: 0.5 });
    const day = '2025-05-05';
    const body = [entry(taskId, { startTime: at('09:00', day), endTime: at('10:00', day) })];
    const first = await grace.post(bulkOf(grace.employeeId), body);
    expect((await notified(projectId)).length).toBeGreaterThan(0);
    const before = [await logsOf(taskId), (await admin.get(`/api/projects/${projectId}/`)).body];
    const { created, skipped, days, exceededProjects } = (await grace.post(bulkOf(grace.employeeId), body)).body;
    expect([created, skipped.length]).toEqual([[], 1]);
    expect([days, exceededProjects]).toEqual([
      [{ date: day, workingHours: 1 }],
      [{ projectId, allocatedHours: 0.5, loggedHours: 1 }],
    ]);
    expect([first.body.days, first.body.exceededProjects]).toEqual([days, exceededProjects]);
    expect([await logsOf(taskId), (await admin.get(`/api/projects/${projectId}/`)).body]).toEqual(before);
    expect(await notified(projectId)).toEqual([admin.employeeId]);
  });

  test('are stored once each when two identical requests race', async () => {
    const { projectId, taskId } = await startWork(admin);
    const entries = Array.from({ length: 40 }, (_, minute) =>
      entry(taskId, { startTime: `2025-06-02T09:${10 + minute}:00Z`, endTime: '2025-06-02T11:00:00Z' }),
    );
    const answers = await Promise.all([
      grace.post(bulkOf(grace.employeeId), entries),
      admin.post(bulkOf(grace.employeeId), entries.toReversed()),
      grace.post(bulkOf(grace.employeeId), entries),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    for (const { body } of answers) {
      expect(body.created.length + body.skipped.length).toBe(40);
      expect(body.days).toEqual([{ date: '2025-06-02', workingHours: 1.83 }]);
    }
    expect(answers.reduce((sum, { body }) => sum + body.created.length, 0)).toBe(40);
    const { taskLogs, totalSeconds } = await logsOf(taskId);
    expect(taskLogs).toHaveLength(40);
    expect((await admin.get(`/api/projects/${projectId}/`)).body.loggedHours).toBe(Math.round(totalSeconds / 36) / 100);
    expect(await differences()).toEqual([]);
  });

  test('may be 500, or 1,000, and no more', async () => {
    const { projectId, taskId } = await startWork(admin);
    const many = (count: number, from: number) =>
      Array.from({ length: count }, (_, n) => {
        const start = Date.parse('2023-01-02T00:00:00Z') + (from + n) * 1_800_000;
        return entry(taskId, {
          startTime: new Date(start).toISOString(),
          endTime: new Date(start + 2_700_000).toISOString(),
        });
      });
    const { body } = await leader.post(bulkOf(grace.employeeId), many(500, 0));
    expect([body.created.length, body.days.length]).toEqual([500, 11]);
    expect(body.days[0]).toEqual({ date: '2023-01-02', workingHours: 24 });
    expect((await leader.post(bulkOf(grace.employeeId), many(1000, 500))).status).toBe(200);
    expect((await admin.get(`/api/projects/${projectId}/`)).body.loggedHours).toBe(1125);

    const tooMany = await leader.post(bulkOf(grace.employeeId), many(1001, 1500));
    expect(errorOf(tooMany)).toEqual({ status: 400, code: 'VALIDATION_FAILED', issues: [''] });
    expect(tooMany.body.detail).toBe('The input must have 1 to 1,000 entries.');
    expect(errorOf(await grace.post(bulkOf(grace.employeeId), []))).toMatchObject({ status: 400, issues: [''] });
    expect(errorOf(await grace.post(bulkOf(grace.employeeId), {}))).toMatchObject({ status: 400, issues: [''] });
    expect(errorOf(await grace.post(bulkOf(grace.employeeId)))).toMatchObject({ status: 400, issues: [''] });
    expect((await logsOf(taskId)).taskLogs).toHaveLength(1500);
    expect(await differences()).toEqual([]);
  });
});

describe('one invalid entry', () => {
  test('keeps all from being stored, and each invalid one is named by its index and field', async () => {
    const { projectId, taskId } = await startWork(admin);
    const answer = await admin.post(bulkOf(grace.employeeId), [
      entry(taskId),
      entry(taskId, { endTime: at('08:00') }),
      entry(theirs.taskId, { userId: joan.employeeId, startTime: at('11:00'), endTime: at('12:00') }),
      entry(taskId, { userId: neighbour.employeeId, startTime: '2999-01-01T00:00:00Z' }),
      entry(999_999, { startTime: at('11:00'), endTime: at('11:01', '2025-03-04') }),
    ]);
    expect(errorOf(answer)).toMatchObject({ status: 400, code: 'VALIDATION_FAILED' });
    expect(answer.body.issues.map(({ path, code }: { path: unknown; code: string }) => [path, code])).toEqual([
      [[1, 'endTime'], 'out_of_range'],
      [[2, 'taskId'], 'not_found'],
      [[2, 'userId'], 'mismatch'],
      [[3, 'userId'], 'not_found'],
      [[3, 'endTime'], 'out_of_range'],
      [[3, 'startTime'], 'out_of_range'],
      [[4, 'taskId'], 'not_found'],
      [[4, 'endTime'], 'out_of_range'],
    ]);
    expect(answer.body.detail).toContain('1.endTime must be after the start');
    expect(await logsOf(taskId)).toEqual({ taskLogs: [], totalSeconds: 0 });
    expect((await admin.get(`/api/projects/${projectId}/`)).body.loggedHours).toBe(0);
    expect(await differences()).toEqual([]);
    expect(await differences(neighbour)).toEqual([]);
  });

  test('is named where its shape is wrong, too', async () => {
    const { taskId } = await startWork(admin);
    const shapes = [entry(taskId), {}, 'x', entry(taskId, { startTime: '2025-02-30T09:00:00Z', manualAdd: 'yes' })];
    expect(errorOf(await grace.post(bulkOf(grace.employeeId), shapes))).toEqual({
      status: 400,
      code: 'VALIDATION_FAILED',
      issues: ['1.taskId', '1.userId', '1.startTime', '1.endTime', '2', '3.startTime', '3.manualAdd'],
    });
    expect((await logsOf(taskId)).taskLogs).toEqual([]);
  });

  test('is one whose task or project is deleted', async () => {
    const [gone, dropped] = [await startWork(admin), await startWork(admin)];
    await admin.delete(`/api/tasks/${gone.taskId}/`);
    await admin.delete(`/api/projects/${dropped.projectId}/`);
    const answer = await grace.post(bulkOf(grace.employeeId), [entry(gone.taskId), entry(dropped.taskId)]);
    expect(errorOf(answer)).toMatchObject({ status: 400, issues: ['0.taskId', '1.taskId'] });
  });
});

describe('whose time it is', () => {
  test('is written by themself, a team leader or an admin, and by nobody else', async () => {
    const { taskId } = await startWork(admin);
    expect(errorOf(await joan.post(bulkOf(grace.employeeId), [entry(taskId)]))).toEqual({
      status: 403,
      code: 'FORBIDDEN',
    });
    expect((await logsOf(taskId)).taskLogs).toEqual([]);
    for (const [index, person] of [grace, leader, admin].entries()) {
      const { body } = await person.post(bulkOf(grace.employeeId), [
        entry(taskId, { startTime: `2025-03-05T09:0${index}:00Z`, endTime: '2025-03-05T10:00:00Z' }),
      ]);
      expect(body.created).toMatchObject([{ userId: grace.employeeId }]);
    }
  });

  test('must be an active employee of the company: anybody else is not there', async () => {
    const { taskId } = await startWork(admin);
    const leaving = await service.addEmployee(admin);
    await admin.patch(`/api/employees/${leaving.employeeId}/`, { is_active: false });
    const bodies = [];
    for (const employeeId of [neighbour.employeeId, 987_654, leaving.employeeId]) {
      const answer = await admin.post(bulkOf(employeeId), [entry(taskId, { userId: employeeId })]);
      expect(errorOf(answer)).toEqual({ status: 404, code: 'NOT_FOUND' });
      bodies.push({ ...answer.body, requestId: '' });
    }
    expect(bodies[1]).toEqual(bodies[0]);
    expect((await logsOf(taskId)).taskLogs).toEqual([]);
  });
});

describe('the allocated hours of a project', () => {
  test('that a bulk exceeds are reported, and notified once', async () => {
    const [over, under] = [
      await startWork(admin, { allocatedHours: 1.5 }),
      await startWork(admin, { allocatedHours: 9 }),
    ];
    const { body } = await grace.post(bulkOf(grace.employeeId), [
      entry(over.taskId),
      entry(over.taskId, { startTime: at('12:00'), endTime: at('13:00') }),
      entry(under.taskId),
    ]);
    expect(body.exceededProjects).toEqual([{ projectId: over.projectId, allocatedHours: 1.5, loggedHours: 2 }]);
    expect(await notified(over.projectId)).toEqual([admin.employeeId]);
    expect(await notified(under.projectId)).toEqual([]);
  });

  test('are crossed once by twelve bulks at the same time, in any order of their projects', async () => {
    const works = [await startWork(admin, { allocatedHours: 5.5 }), await startWork(admin, { allocatedHours: 5.5 })];
    const people = [grace, joan, leader];
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, n) => {
        const person = people[n % 3]!;
        const [startTime, endTime] = [`2025-07-01T${10 + n}:00:00Z`, `2025-07-01T${11 + n}:00:00Z`];
        const order = n % 2 === 0 ? works : works.toReversed();
        return person.post(
          bulkOf(person.employeeId),
          order.map(({ taskId }) => entry(taskId, { userId: person.employeeId, startTime, endTime })),
        );
      }),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array<number>(12).fill(200));
    for (const { projectId } of works) {
      expect((await admin.get(`/api/projects/${projectId}/`)).body.loggedHours).toBe(12);
      expect(await notified(projectId)).toEqual([admin.employeeId]);
    }
    expect(await differences()).toEqual([]);
  });
});

test('a bulk over tRPC is the same, its field named in the issues', async () => {
  const { taskId } = await startWork(admin);
  const input = { taskId, userId: grace.employeeId, startTime: at('09:00'), endTime: at('10:00') };
  const made = await grace.trpc.taskLogs.bulkCreate.mutate({ user_id: grace.employeeId, entries: [input] });
  expect(made.created).toHaveLength(1);
  await expect(
    grace.trpc.taskLogs.bulkCreate.mutate({ user_id: grace.employeeId, entries: [{ ...input, endTime: at('08:00') }] }),
  ).rejects.toMatchObject({ data: { code: 'VALIDATION_FAILED', issues: [{ path: ['entries', 0, 'endTime'] }] } });
});
