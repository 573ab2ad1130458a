import { describe, expect, test } from 'vitest';
import type { Actor } from '../../support/actor.ts';
import { startService } from '../../support/service.ts';
import { startWork } from '../../support/work.ts';

const service = await startService();
const { db } = service.database;
const admin = await service.registerCompany();
const second = await service.addEmployee(admin, { isAdmin: true });
const former = await service.addEmployee(admin, { isAdmin: true });
await admin.patch(`/api/employees/${former.employeeId}/`, { is_active: false });
const grace = await service.addEmployee(admin, { isTeamLeader: true });
const neighbour = await service.registerCompany({ name: 'Next Door' });

const hour = 3_600_000;

/** Logs hours, the n-th entry from an hour of its own. */
async function logHours(who: Actor, taskId: number, hours: number, position = 0) {
  const start = Date.UTC(2025, 2, 3) + position * 24 * hour;
  return who.post('/tasklog/create/', {
    task_id: taskId,
    employee_id: who.employeeId,
    start_time: new Date(start).toISOString(),
    end_time: new Date(start + hours * hour).toISOString(),
  });
}

const loggedHours = async (projectId: number) => (await admin.get(`/api/projects/${projectId}/`)).body.loggedHours;

/** What was notified about a project, after all jobs have run: recipients in order, and the rows. */
async function notified(projectId: number) {
  await service.drain();
  const rows = await db
    .selectFrom('notifications')
    .where('company_id', '=', admin.companyId)
    .where('project_id', '=', projectId)
    .where('category', '=', 'project')
    .selectAll()
    .orderBy('recipient_id')
    .orderBy('notification_id')
    .execute();
  return { rows, recipients: rows.map((row) => row.recipient_id) };
}

const admins = [admin.employeeId, second.employeeId];

describe('a project that exceeds its allocated hours', () => {
  test('notifies every active admin, naming the project and both figures', async () => {
    const { projectId, taskId } = await startWork(admin, { name: 'Analytical Engine', allocatedHours: 2.5 });
    await logHours(grace, taskId, 2.5);
    expect((await notified(projectId)).rows).toEqual([]);
    await logHours(grace, taskId, 0.75, 1);

    const { rows, recipients } = await notified(projectId);
    expect(recipients).toEqual(admins);
    expect(rows[0]).toMatchObject({
      app_type: 'task',
      category: 'project',
      priority: 'primary',
      title: 'Analytical Engine is over its allocated hours',
      message: 'Analytical Engine has 3.25 hours logged, and 2.5 allocated.',
      link: `https://app.example.test/projects/${projectId}`,
      project_id: projectId,
      is_read: false,
      is_mention: false,
    });
    const theirs = await db
      .selectFrom('notifications')
      .where('company_id', '=', neighbour.companyId)
      .select('notification_id')
      .execute();
    expect(theirs).toEqual([]);
    expect(service.mailbox.mails.filter((mail) => mail.text.includes('Analytical Engine has'))).toEqual([]);
  });

  test('notifies once when 20 logs cross the allocation at once, and loses none of their time', async () => {
    const { projectId, taskId } = await startWork(admin, { allocatedHours: 10.5 });
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, position) => logHours(position % 2 === 0 ? grace : second, taskId, 1, position)),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array<number>(20).fill(200));
    expect(await loggedHours(projectId)).toBe(20);
    expect((await notified(projectId)).recipients).toEqual(admins);
    await logHours(grace, taskId, 1, 30);
    expect((await notified(projectId)).recipients).toEqual(admins);
  });

  test('may cross again when time is deleted or shortened in between', async () => {
    const { projectId, taskId } = await startWork(admin, { allocatedHours: 4 });
    await logHours(grace, taskId, 3);
    const { body: crossing } = await logHours(grace, taskId, 2, 1);
    await grace.delete(`/api/tasklogs/delete/${crossing._id}/`);
    expect(await loggedHours(projectId)).toBe(3);
    expect((await notified(projectId)).recipients).toEqual(admins);

    const { body: again } = await logHours(grace, taskId, 2, 1);
    expect((await notified(projectId)).recipients).toEqual(admins.flatMap((one) => [one, one]));
    await grace.put(`/tasklogs/${again._id}/`, { endTime: '2025-03-04T01:00:00Z' });
    await grace.put(`/tasklogs/${again._id}/`, { endTime: '2025-03-04T01:00:01Z' });
    expect(await loggedHours(projectId)).toBe(4);
    expect((await notified(projectId)).recipients).toEqual(admins.flatMap((one) => [one, one, one]));
  });

  test('may cross again when its allocation is raised, and crosses when it is lowered', async () => {
    const { projectId, taskId } = await startWork(admin, { allocatedHours: 1 });
    await logHours(grace, taskId, 2);
    await admin.patch(`/api/projects/${projectId}/`, { allocatedHours: 3 });
    await logHours(grace, taskId, 1, 1);
    expect((await notified(projectId)).recipients).toEqual(admins);
    await logHours(grace, taskId, 0.5, 2);
    expect((await notified(projectId)).recipients).toEqual(admins.flatMap((one) => [one, one]));

    await admin.patch(`/api/projects/${projectId}/`, { allocatedHours: null });
    await admin.patch(`/api/projects/${projectId}/`, { allocatedHours: 3.25 });
    expect((await notified(projectId)).recipients).toEqual(admins.flatMap((one) => [one, one, one]));
  });

  test('is crossed by a log that is moved to it, and left by one that is moved away', async () => {
    const [from, to] = [await startWork(admin, { allocatedHours: 1 }), await startWork(admin, { allocatedHours: 1 })];
    const { body: log } = await logHours(grace, from.taskId, 2);
    await grace.put(`/tasklogs/${log._id}/`, { taskId: to.taskId });
    expect((await notified(from.projectId)).recipients).toEqual(admins);
    expect((await notified(to.projectId)).recipients).toEqual(admins);
    await logHours(grace, from.taskId, 2, 1);
    expect((await notified(from.projectId)).recipients).toEqual(admins.flatMap((one) => [one, one]));
  });

  test('asks who is an admin when the job runs, and notifies once where it runs twice', async () => {
    const late = await service.addEmployee(admin);
    const leaving = await service.addEmployee(admin, { isAdmin: true });
    const { projectId, taskId } = await startWork(admin, { allocatedHours: 1 });
    await logHours(grace, taskId, 2);
    const job = await db
      .selectFrom('jobs')
      .where('handler', '=', 'project-hours-exceeded')
      .select(['handler', 'payload', 'due_at', 'created_at'])
      .executeTakeFirstOrThrow();
    await admin.patch(`/api/employees/${late.employeeId}/`, { isAdmin: true });
    await admin.patch(`/api/employees/${leaving.employeeId}/`, { is_active: false });
    expect((await notified(projectId)).recipients).toEqual([...admins, late.employeeId]);

    await db
      .insertInto('jobs')
      .values({ ...job, payload: JSON.stringify(job.payload), dedupe_key: 'the same once more' })
      .execute();
    expect((await notified(projectId)).recipients).toEqual([...admins, late.employeeId]);
    await admin.patch(`/api/employees/${late.employeeId}/`, { isAdmin: false });
  });

  test('notifies nobody without an allocation, or if it is deleted before the job runs', async () => {
    const free = await startWork(admin);
    await logHours(grace, free.taskId, 24);
    expect((await notified(free.projectId)).rows).toEqual([]);

    const dropped = await startWork(admin, { allocatedHours: 1 });
    await logHours(grace, dropped.taskId, 2);
    await admin.delete(`/api/projects/${dropped.projectId}/`);
    expect((await notified(dropped.projectId)).rows).toEqual([]);
  });
});

describe('logs that change projects at once', () => {
  test('take their time along in both directions, with none lost and none refused', async () => {
    const [left, right] = [await startWork(admin), await startWork(admin)];
    const moves = [];
    for (let position = 0; position < 10; position += 1) {
      const [from, to] = position % 2 === 0 ? [left, right] : [right, left];
      const { body } = await logHours(grace, from.taskId, position + 1, position);
      moves.push({ log: body._id as number, taskId: to.taskId });
    }
    expect([await loggedHours(left.projectId), await loggedHours(right.projectId)]).toEqual([25, 30]);
    const answers = await Promise.all(moves.map(({ log, taskId }) => grace.put(`/tasklogs/${log}/`, { taskId })));
    expect(answers.map(({ status }) => status)).toEqual(Array<number>(10).fill(200));
    expect([await loggedHours(left.projectId), await loggedHours(right.projectId)]).toEqual([30, 25]);
  });

  test('end in one place when one log is sent to several at once', async () => {
    const places = [await startWork(admin), await startWork(admin), await startWork(admin)];
    const { body: log } = await logHours(grace, places[0]!.taskId, 2);
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        grace.put(`/tasklogs/${log._id}/`, { taskId: places[(index + 1) % 3]!.taskId }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array<number>(12).fill(200));
    const hours = [];
    for (const { taskId, projectId } of places) {
      const { totalSeconds } = (await admin.get(`/taskLogs/task/${taskId}/`)).body;
      expect(await loggedHours(projectId)).toBe(totalSeconds / 3600);
      hours.push(totalSeconds / 3600);
    }
    expect(hours.reduce((sum, one) => sum + one)).toBe(2);
  });

  test('stay with their task while it moves to another project', async () => {
    const [from, to] = [await startWork(admin), await startWork(admin)];
    await logHours(grace, from.taskId, 1, 20);
    const answers = await Promise.all(
      Array.from({ length: 16 }, (_, position) =>
        position % 8 === 7
          ? admin.patch(`/api/tasks/${from.taskId}/`, { projectId: to.projectId })
          : logHours(position % 2 === 0 ? grace : second, from.taskId, 1, position),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array<number>(16).fill(200));
    expect([await loggedHours(from.projectId), await loggedHours(to.projectId)]).toEqual([0, 15]);
    const { taskLogs } = (await admin.get(`/taskLogs/task/${from.taskId}/`)).body;
    expect(taskLogs.map((log: { projectId: number }) => log.projectId)).toEqual(Array<number>(15).fill(to.projectId));
  });
});
