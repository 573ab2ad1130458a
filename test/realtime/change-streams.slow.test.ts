import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import type { Actor, Answer } from '../support/actor.ts';
import { overEvents, overWebSocket, type Heard, type Way } from '../support/listener.ts';
import { startProxy } from '../support/proxy.ts';
import { startService } from '../support/service.ts';
import { addTask, startWork } from '../support/work.ts';

/*
 * The streams of change events: the tasks of a project, one's own timer, and the projects of the company.
 */

const service = await startService();
const { url, database } = service;
const admin = await service.registerCompany();
const colleague = await service.addEmployee(admin);
const neighbour = await service.registerCompany({ name: 'Compilers' });

const ways: Way[] = [];
const keep = (way: Way): Way => {
  ways.push(way);
  return way;
};
afterEach(() => Promise.all(ways.splice(0).map((way) => way.close())));

const idsOf = (events: Heard[]) => events.map(({ id }) => id);
const typesOf = (events: Heard[]) => events.map(({ type }) => type);
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

async function answerOf(call: Promise<Answer>): Promise<Answer['body']> {
  const { status, body } = await call;
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body;
}

/** A record as everybody in the company may see it. */
function withoutMoney(record: Answer['body']): Answer['body'] {
  const { charge: _, budget: __, amounts: ___, ...others } = record;
  return others;
}

async function startProject(actor: Actor): Promise<number> {
  return (await answerOf(actor.post('/api/projects/', { name: 'Difference Engine' })))._id;
}

const period = (hour: number) => ({ start_time: `2026-02-02T0${hour}:00:00Z`, end_time: `2026-02-02T0${hour}:30:00Z` });
const log = (actor: Actor, taskId: number, hour: number) =>
  answerOf(actor.post('/tasklog/create/', { task_id: taskId, employee_id: actor.employeeId, ...period(hour) }));

describe.each([
  ['a WebSocket', overWebSocket],
  ['server-sent events', overEvents],
] as const)('over %s', (_name, over) => {
  const connect = (who: Actor) => keep(over(url, who.pair));

  test('what happens to the tasks of a project comes in order, with the records as they are answered, but for money', async () => {
    const projectId = await startProject(admin);
    const reader = await connect(colleague).listen('tasks.onProject', { projectId });
    const task = await answerOf(admin.post('/api/tasks/', { projectId, title: 'Cut the gears' }));
    const done = await answerOf(colleague.patch(`/api/tasks/${task._id}/`, { status: 'done', title: 'Cut the gears' }));
    const made = withoutMoney(await log(colleague, task._id, 8));
    const moved = { endTime: '2026-02-02T08:45:00Z' };
    const changed = withoutMoney(await answerOf(colleague.put(`/tasklogs/${made._id}/`, moved)));
    await answerOf(colleague.delete(`/api/tasklogs/delete/${made._id}/`));
    await answerOf(admin.delete(`/api/tasks/${task._id}/`));

    const heard = await reader.hears(6);
    expect(idsOf(heard)).toEqual(upTo(6));
    const [by, byColleague] = [{ actorId: admin.employeeId }, { actorId: colleague.employeeId }];
    const taskId = task._id;
    const taskLogId = made._id;
    expect(heard).toMatchObject([
      { type: 'task.created', ...by, taskId, task, truncated: false },
      { type: 'task.updated', ...byColleague, taskId, task: done },
      { type: 'task_log.created', ...byColleague, taskLogId, taskLog: made },
      { type: 'task_log.updated', ...byColleague, taskLogId, taskLog: changed },
      { type: 'task_log.deleted', ...byColleague, taskLogId, taskLog: changed },
      { type: 'task.deleted', ...by, taskId, task: done },
    ]);
    expect(heard[1]!.changes).toEqual({
      status: { before: 'todo', after: 'done' },
      completedAt: { before: null, after: done.completedAt },
    });
    expect(heard[3]!.changes).toEqual({
      endTime: { before: made.endTime, after: changed.endTime },
      durationSeconds: { before: 1800, after: 2700 },
    });
    expect(Object.keys(heard[0]!).slice(0, 3)).toEqual(['id', 'type', 'at']);
  });

  test('logs that are made at once come one by one', async () => {
    const { projectId, taskId } = await startWork(admin);
    const reader = await connect(colleague).listen('tasks.onProject', { projectId, lastEventId: '1' });
    const userId = colleague.employeeId;
    const entry = (hour: number) => ({
      taskId,
      userId,
      startTime: period(hour).start_time,
      endTime: period(hour).end_time,
    });
    const entries = [3, 4, 4, 5].map(entry);
    const { created } = await answerOf(colleague.post(`/tasklogs/bulk/create/${userId}/`, entries));
    expect((await reader.hears(3)).map(({ taskLog }) => taskLog)).toEqual(created.map(withoutMoney));
    expect(created).toHaveLength(3);
  });

  test('a task that moves is an event of both projects, and its logs are none', async () => {
    const { projectId: from, taskId } = await startWork(admin);
    const into = await startProject(admin);
    await log(admin, taskId, 8);
    const way = connect(colleague);
    const left = await way.listen('tasks.onProject', { projectId: from });
    const entered = await way.listen('tasks.onProject', { projectId: into });
    await answerOf(admin.patch(`/api/tasks/${taskId}/`, { projectId: into }));
    await answerOf(admin.patch(`/api/tasks/${taskId}/`, { title: 'Turn it back' }));
    const changes = { projectId: { before: from, after: into } };
    expect(await left.hears(1)).toMatchObject([{ type: 'task.updated', id: 3, taskId, changes }]);
    expect(await entered.hears(2)).toMatchObject([
      { type: 'task.updated', id: 1, taskId, changes },
      { type: 'task.updated', id: 2, task: { projectId: into, title: 'Turn it back' } },
    ]);
    expect(left.events).toHaveLength(1);
  });

  test('one’s own timer is followed by oneself alone, also where the service stops it', async () => {
    const who = await service.addEmployee(admin);
    const { taskId } = await startWork(admin);
    const own = await connect(who).listen('timers.onMine');
    const others = await connect(admin).listen('timers.onMine');
    const timer = await answerOf(who.post('/api/tasklogs/timer/start/', { taskId }));
    service.clock.advance({ minutes: 5 });
    const made = await answerOf(who.post('/api/tasklogs/timer/stop/'));
    await answerOf(who.post('/api/tasklogs/timer/start/', { taskId }));
    service.clock.advance({ hours: 25 });
    await service.drain();
    const heard = await own.hears(4);
    expect(heard).toMatchObject([
      { id: 1, type: 'timer.started', actorId: who.employeeId, timer },
      { id: 2, type: 'timer.stopped', actorId: who.employeeId, timer, taskLogId: made._id },
      { id: 3, type: 'timer.started' },
      { id: 4, type: 'timer.stopped', actorId: null },
    ]);
    expect(others.events).toEqual([]);
  });

  test('the projects of the company come without their hours, and nothing of what happens in them', async () => {
    const reader = await connect(colleague).listen('projects.onCompany', { lastEventId: 'now' });
    const [{ id: before } = { id: -1 }] = await reader.hears(1);
    const { loggedHours: _, ...project } = await answerOf(admin.post('/api/projects/', { name: 'Analytical Engine' }));
    await log(admin, await addTask(admin, project._id), 8);
    await answerOf(admin.patch(`/api/projects/${project._id}/`, { status: 'on_hold', allocatedHours: 1.5 }));
    await answerOf(admin.delete(`/api/projects/${project._id}/`));
    const heard = (await reader.hears(4)).slice(1);
    expect(idsOf(heard)).toEqual(upTo(3).map((nth) => before + nth));
    expect(typesOf(heard)).toEqual(['project.created', 'project.updated', 'project.deleted']);
    expect(heard[0]!.project).toEqual(withoutMoney(project));
    expect(heard[1]!.changes).toEqual({
      status: { before: 'active', after: 'on_hold' },
      allocatedHours: { before: null, after: 1.5 },
    });
    expect(JSON.stringify(heard)).not.toContain('loggedHours');
  });

  test('a project that is deleted says so last, and is talked of no more', async () => {
    const { projectId } = await startWork(admin);
    const reader = await connect(colleague).listen('tasks.onProject', { projectId, lastEventId: '0' });
    await reader.hears(1);
    await answerOf(admin.delete(`/api/projects/${projectId}/`));
    expect(await reader.ends()).toBe('NOT_FOUND');
    expect(typesOf(reader.events)).toEqual(['task.created', 'project.deleted']);
    const late = await connect(colleague).listen('tasks.onProject', { projectId });
    expect(await late.ends()).toBe('NOT_FOUND');
  });

  test('cuts lose, double and reorder nothing', async () => {
    const { projectId } = await startWork(admin);
    const proxy = await startProxy(url, 80);
    onTestFinished(() => proxy.close());
    const way = keep(over(proxy.url.replace(/\/$/, ''), colleague.pair));
    const listener = await way.listen('tasks.onProject', { projectId, lastEventId: 'now' });
    expect(await listener.hears(1)).toMatchObject([{ id: 1, type: 'stream.opened' }]);
    for (let round = 0; round < 2; round += 1) {
      proxy.cut();
      await Promise.all(upTo(8).map(() => addTask(admin, projectId)));
      proxy.restore();
      await Promise.all(upTo(2).map(() => addTask(admin, projectId)));
      await listener.hears(1 + 10 * (round + 1));
    }
    expect(idsOf(listener.events)).toEqual([1, ...upTo(20).map((nth) => nth + 1)]);
  });

  test('who was away for too long is told so, and goes on from there', async () => {
    const { projectId } = await startWork(admin);
    await addTask(admin, projectId);
    await database.db
      .updateTable('events')
      .set({ at: new Date(service.clock.now().getTime() - 7 * 24 * 3_600_000) })
      .where('company_id', '=', admin.companyId)
      .where('stream', '=', `project ${projectId}`)
      .execute();
    await service.app.sweep.run();
    const listener = await connect(colleague).listen('tasks.onProject', { projectId, lastEventId: '1' });
    await listener.hears(1);
    await addTask(admin, projectId);
    expect(await listener.hears(2)).toMatchObject([
      { id: 2, type: 'stream.reset' },
      { id: 3, type: 'task.created' },
    ]);
  });

  test('another company’s project is as absent as one that is not there, and nothing of it is heard', async () => {
    const { projectId } = await startWork(admin);
    const way = connect(neighbour);
    const foreign = await way.listen('tasks.onProject', { projectId });
    const absent = await way.listen('tasks.onProject', { projectId: 987_654_321 });
    expect([await foreign.ends(), await absent.ends()]).toEqual(['NOT_FOUND', 'NOT_FOUND']);
    const projects = await way.listen('projects.onCompany');
    const timers = await way.listen('timers.onMine');
    await answerOf(admin.patch(`/api/projects/${projectId}/`, { name: 'Secret' }));
    const theirs = await startProject(neighbour);
    expect(await projects.hears(1)).toMatchObject([{ type: 'project.created', projectId: theirs }]);
    expect([...foreign.events, ...absent.events, ...timers.events]).toEqual([]);
  });

  test.each([
    ['is deactivated', (who: Actor) => admin.patch(`/api/employees/${who.employeeId}/`, { is_active: false })],
    ['is deleted', (who: Actor) => admin.delete(`/api/employees/${who.employeeId}/`)],
    ['signs out', (who: Actor) => who.post('/logout/')],
  ])('who %s hears no more of any of them', async (_what, end) => {
    const who = await service.addEmployee(admin);
    const { projectId } = await startWork(admin);
    const way = keep(over(url, who.pair));
    const listeners = await Promise.all([
      way.listen('tasks.onProject', { projectId }),
      way.listen('timers.onMine'),
      way.listen('projects.onCompany'),
    ]);
    await answerOf(end(who));
    for (const listener of listeners) expect(await listener.ends()).toBe('SESSION_ENDED');
    await addTask(admin, projectId);
    expect(listeners.flatMap(({ events }) => events)).toEqual([]);
  });
});

test('writers of one project and of many at once leave no gap in any stream', async () => {
  const projects = await Promise.all(upTo(8).map(() => startWork(admin)));
  const [{ taskId }] = projects as [(typeof projects)[0]];
  const calls = upTo(40).flatMap((nth) => [
    log(admin, taskId, 0).catch(() => undefined),
    addTask(admin, projects[nth % 8]!.projectId),
    answerOf(admin.patch(`/api/tasks/${taskId}/`, { projectId: projects[nth % 8]!.projectId })),
  ]);
  await Promise.all(calls);
  const streams = await database.db
    .selectFrom('event_streams as s')
    .where('s.company_id', '=', admin.companyId)
    .select((eb) => [
      's.stream',
      's.last_sequence',
      eb
        .selectFrom('events as e')
        .whereRef('e.company_id', '=', 's.company_id')
        .whereRef('e.stream', '=', 's.stream')
        .select(({ fn }) => [fn.countAll<number>().as('count')])
        .as('count'),
    ])
    .where(
      's.stream',
      'in',
      projects.map(({ projectId }) => `project ${projectId}`),
    )
    .execute();
  expect(streams).toHaveLength(8);
  for (const { last_sequence, count } of streams) expect(count).toBe(last_sequence);
});
