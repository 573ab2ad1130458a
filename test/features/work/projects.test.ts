import { describe, expect, test } from 'vitest';
import { errorOf, type Actor } from '../../support/actor.ts';
import { startService } from '../../support/service.ts';

const service = await startService();
const ada = await service.registerCompany({ name: 'Engines' });
const leader = await service.addEmployee(ada, { isTeamLeader: true });
const grace = await service.addEmployee(ada);
const alan = await service.addEmployee(ada);
const neighbour = await service.registerCompany({ name: 'Looms' });

async function start(by: Actor, project: Record<string, unknown> = {}) {
  const { status, body } = await by.post('/api/projects/', { name: 'Difference Engine', ...project });
  expect({ status, code: body.code }).toEqual({ status: 200, code: undefined });
  return body;
}

const pathOf = (project: { _id: number }) => `/api/projects/${project._id}/`;
const names = (body: { results: { name: string }[] }) => body.results.map((one) => one.name);
const listOf = (companyId: number, query = '') => `/api/projects/company/${companyId}/${query}`;

async function deactivated(): Promise<Actor> {
  const person = await service.addEmployee(ada);
  await ada.patch(`/api/employees/${person.employeeId}/`, { is_active: false });
  return person;
}

/** Logs whole hours on a new task of the project. */
async function log(project: { _id: number }, by: Actor, hoursLogged: number): Promise<number> {
  const task = await by.post('/api/tasks/', { projectId: project._id, title: 'Cut the gears' });
  const end = new Date('2026-03-02T20:00:00Z');
  const logged = await by.post('/tasklog/create/', {
    task_id: task.body._id,
    employee_id: by.employeeId,
    start_time: new Date(end.getTime() - hoursLogged * 3_600_000).toISOString(),
    end_time: end.toISOString(),
  });
  expect(logged.status).toBe(200);
  return task.body._id;
}

async function alarms(project: { _id: number }): Promise<number> {
  await service.drain();
  const rows = await service.database.db
    .selectFrom('notifications')
    .where('company_id', '=', ada.companyId)
    .where('project_id', '=', project._id)
    .where('recipient_id', '=', ada.employeeId)
    .where('title', 'like', '% is over its allocated hours')
    .select('notification_id')
    .execute();
  return rows.length;
}

const neighbourTries = (path: string) => [
  neighbour.get(path),
  neighbour.patch(path, { name: 'Ours', owner_id: neighbour.employeeId }),
  neighbour.delete(path),
];

describe('a new project', () => {
  test('may be started by any employee, belongs to its caller and is active', async () => {
    const project = await start(grace, { description: 'Second design', allocatedHours: 120.25, status: 'archived' });
    expect(project).toEqual({
      _id: expect.any(Number),
      name: 'Difference Engine',
      description: 'Second design',
      companyId: ada.companyId,
      owner_id: grace.employeeId,
      allocatedHours: 120.25,
      loggedHours: 0,
      billable: true,
      budget: null,
      amounts: null,
      status: 'active',
      createdAt: expect.stringMatching(/\.\d{3}Z$/),
      updatedAt: project.createdAt,
    });
    expect((await alan.get(pathOf(project))).body).toEqual(project);
  });

  test('may be given to another active employee, and to nobody else', async () => {
    expect((await start(grace, { owner_id: alan.employeeId })).owner_id).toBe(alan.employeeId);
    for (const owner_id of [(await deactivated()).employeeId, neighbour.employeeId, 999_999]) {
      const answer = await grace.post('/api/projects/', { name: 'Never', owner_id });
      expect(errorOf(answer)).toEqual({ status: 400, code: 'VALIDATION_FAILED', issues: ['owner_id'] });
      expect(answer.body.issues[0]).toMatchObject({
        message: 'is no active employee of your company',
        code: 'not_found',
      });
    }
    const { body } = await ada.get(listOf(ada.companyId));
    expect(body.results.map((one: { name: string }) => one.name)).not.toContain('Never');
  });

  test.each([
    [{ name: ' ' }, 'name'],
    [{ allocatedHours: -1 }, 'allocatedHours'],
    [{ allocatedHours: 100_000_000 }, 'allocatedHours'],
    [{ allocatedHours: '5' }, 'allocatedHours'],
    [{ owner_id: 0 }, 'owner_id'],
    [{ owner_id: null }, 'owner_id'],
  ])('is refused with %j', async (wrong, field) => {
    const answer = await grace.post('/api/projects/', { name: 'Never', ...wrong });
    expect(errorOf(answer)).toEqual({ status: 400, code: 'VALIDATION_FAILED', issues: [field] });
  });
});

describe('the list of projects', () => {
  test('is the newest first, in pages of 20 with a total, filtered by status', async () => {
    const company = await service.registerCompany();
    for (let made = 1; made <= 21; made += 1) await start(company, { name: `Project ${made}` });
    const first = await company.get(listOf(company.companyId));
    expect(first.body).toMatchObject({ page: 1, pageSize: 20, total: 21, totalPages: 2 });
    expect(names(first.body)).toEqual(Array.from({ length: 20 }, (_, index) => `Project ${21 - index}`));
    const second = await company.get(listOf(company.companyId, '?page=2'));
    expect(names(second.body)).toEqual(['Project 1']);
    const past = await company.get(listOf(company.companyId, '?page=3'));
    expect(past.body).toEqual({ results: [], page: 3, pageSize: 20, total: 21, totalPages: 2 });

    await company.patch(pathOf(first.body.results[3]), { status: 'on_hold' });
    await company.delete(pathOf(first.body.results[5]));
    const held = await company.get(listOf(company.companyId, '?status=on_hold'));
    expect(held.body).toMatchObject({ total: 1, totalPages: 1 });
    expect(names(held.body)).toEqual(['Project 18']);
    const active = await company.get(listOf(company.companyId, '?status=active'));
    expect(active.body).toMatchObject({ total: 19, totalPages: 1 });
  });

  test('is narrowed by what is in the name and by status together, and counts every match', async () => {
    const company = await service.registerCompany();
    for (const name of ['Gear works', 'Weave', 'New GEARS']) await start(company, { name });
    await start(neighbour, { name: 'Foreign gears' });
    for (let made = 1; made <= 21; made += 1) await start(company, { name: `Cog ${made}` });
    const list = async (query: Record<string, string>) => {
      const { body } = await company.get(listOf(company.companyId, `?${new URLSearchParams(query).toString()}`));
      expect(body.total).toBe(body.results.length);
      return names(body);
    };
    expect(await list({ q: 'gEaR' })).toEqual(['New GEARS', 'Gear works']);
    expect(await list({ q: ' ar w ' })).toEqual(['Gear works']);
    const { body: found } = await company.get(listOf(company.companyId, '?q=gears'));
    await company.patch(pathOf(found.results[0]), { status: 'on_hold' });
    expect(await list({ q: 'gear', status: 'on_hold' })).toEqual(['New GEARS']);
    expect(await list({ q: 'weave', status: 'on_hold' })).toEqual([]);
    await company.delete(pathOf(found.results[0]));
    expect(await list({ q: 'gear' })).toEqual(['Gear works']);

    const first = await company.get(listOf(company.companyId, '?q=cog'));
    expect(first.body).toMatchObject({ page: 1, total: 21, totalPages: 2 });
    expect(names(first.body)[0]).toBe('Cog 21');
    expect(names((await company.get(listOf(company.companyId, '?q=cog&page=2'))).body)).toEqual(['Cog 1']);
    expect((await company.get(listOf(company.companyId, '?q='))).body.total).toBe(23);
  });

  test('takes the wildcards of q for letters, and accents for what they are', async () => {
    const company = await service.registerCompany();
    for (const name of ['100% brass', '1000 brass', 'under_score', 'underXscore', String.raw`back\slash`, 'ÉTUDE'])
      await start(company, { name });
    const found = async (q: string) =>
      names((await company.get(listOf(company.companyId, `?q=${encodeURIComponent(q)}`))).body);
    expect(await found('0%')).toEqual(['100% brass']);
    expect(await found('r_s')).toEqual(['under_score']);
    expect(await found('k\\s')).toEqual([String.raw`back\slash`]);
    expect(await found('étu')).toEqual(['ÉTUDE']);
    expect(await found('etu')).toEqual([]);
    expect(await found("'; drop table projects; --")).toEqual([]);
  });

  test('refuses unknown filters, and the list of another company', async () => {
    expect(errorOf(await ada.get(listOf(ada.companyId, '?status=open'))).issues).toEqual(['status']);
    expect(errorOf(await ada.get(listOf(ada.companyId, '?page=0'))).issues).toEqual(['page']);
    for (const q of ['%20', 'x'.repeat(201), 'a%00b'])
      expect(errorOf(await ada.get(listOf(ada.companyId, `?q=${q}`))).issues).toEqual(['q']);
    const foreign = errorOf(await neighbour.get(listOf(ada.companyId)));
    expect(foreign).toEqual({ status: 404, code: 'NOT_FOUND' });
    expect(errorOf(await neighbour.get(listOf(ada.companyId, '?q=engine')))).toEqual(foreign);
    expect(errorOf(await neighbour.get(listOf(999_999)))).toEqual(foreign);
  });
});

describe('a change of a project', () => {
  test('is for its owner, team leaders and admins, and keeps what is not sent', async () => {
    const project = await start(grace, { description: 'Second design', allocatedHours: 8 });
    const refused = await alan.patch(pathOf(project), { name: 'Mine' });
    expect(errorOf(refused)).toEqual({ status: 403, code: 'FORBIDDEN' });
    expect((await grace.get(pathOf(project))).body).toEqual(project);

    expect((await grace.patch(pathOf(project), { name: 'Analytical Engine' })).body).toMatchObject({
      name: 'Analytical Engine',
      description: 'Second design',
      allocatedHours: 8,
    });
    expect((await leader.patch(pathOf(project), { status: 'completed', description: null })).body).toMatchObject({
      status: 'completed',
      description: null,
    });
    const given = await ada.patch(pathOf(project), { owner_id: alan.employeeId, allocatedHours: null });
    expect(given.body).toMatchObject({ owner_id: alan.employeeId, allocatedHours: null, companyId: ada.companyId });
    expect(errorOf(await grace.patch(pathOf(project), { name: 'Mine' })).code).toBe('FORBIDDEN');
    expect((await alan.get(pathOf(project))).body).toEqual({ ...given.body, amounts: null });
  });

  test('keeps an owner who has been deactivated, and makes none of such a person', async () => {
    const gone = await service.addEmployee(ada);
    const project = await start(gone);
    await ada.patch(`/api/employees/${gone.employeeId}/`, { is_active: false });
    const same = await ada.patch(pathOf(project), { owner_id: gone.employeeId, name: 'Kept' });
    expect(same.body).toMatchObject({ name: 'Kept', owner_id: gone.employeeId });
    const other = await start(ada);
    for (const owner_id of [gone.employeeId, neighbour.employeeId])
      expect(errorOf(await ada.patch(pathOf(other), { owner_id, name: 'Never' })).issues).toEqual(['owner_id']);
    expect((await ada.get(pathOf(other))).body).toEqual(other);
  });

  test('that lowers the allocation below what is logged notifies the admins once, and raising it arms that again', async () => {
    const project = await start(ada, { allocatedHours: 10 });
    await log(project, grace, 6);
    expect((await ada.get(pathOf(project))).body.loggedHours).toBe(6);
    expect(await alarms(project)).toBe(0);

    await ada.patch(pathOf(project), { allocatedHours: 5 });
    expect(await alarms(project)).toBe(1);
    await ada.patch(pathOf(project), { allocatedHours: 5.5 });
    await ada.patch(pathOf(project), { name: 'Renamed' });
    expect(await alarms(project)).toBe(1);

    await ada.patch(pathOf(project), { allocatedHours: 6 });
    expect(await alarms(project)).toBe(1);
    await log(project, grace, 1);
    expect(await alarms(project)).toBe(2);
    await ada.patch(pathOf(project), { allocatedHours: null });
    await ada.patch(pathOf(project), { allocatedHours: 0 });
    expect(await alarms(project)).toBe(3);
  });

  test('that ten send at once crosses the allocation once', async () => {
    const project = await start(ada, { allocatedHours: 10 });
    await log(project, grace, 6);
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) => ada.patch(pathOf(project), { allocatedHours: 1 + index / 10 })),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200));
    expect(await alarms(project)).toBe(1);
  });

  test('is refused for what is no value of a field', async () => {
    const project = await start(ada);
    const wrong = { name: null, status: 'open', allocatedHours: -0.01, owner_id: null };
    expect(errorOf(await ada.patch(pathOf(project), wrong)).issues?.toSorted()).toEqual(Object.keys(wrong).toSorted());
    expect((await ada.get(pathOf(project))).body).toEqual(project);
  });
});

describe('a deleted project', () => {
  test('is gone with its tasks for everybody, and its logged time stays', async () => {
    const project = await start(grace, { name: 'Doomed' });
    const other = await start(grace, { name: 'Spared' });
    const taskId = await log(project, grace, 2);
    expect(errorOf(await alan.delete(pathOf(project)))).toEqual({ status: 403, code: 'FORBIDDEN' });
    expect((await grace.get(pathOf(project))).status).toBe(200);

    expect((await grace.delete(pathOf(project))).body).toEqual({ success: true });
    for (const answer of [
      await ada.get(pathOf(project)),
      await ada.patch(pathOf(project), { name: 'Back' }),
      await ada.delete(pathOf(project)),
      await ada.get(`/api/tasks/${taskId}/`),
      await ada.patch(`/api/tasks/${taskId}/`, { title: 'Back' }),
      await ada.delete(`/api/tasks/${taskId}/`),
    ])
      expect(errorOf(answer)).toEqual({ status: 404, code: 'NOT_FOUND' });
    const inside = await ada.post('/api/tasks/', { projectId: project._id, title: 'Late' });
    expect(errorOf(inside).issues).toEqual(['projectId']);
    const left = await ada.get(`/api/tasks/company/${ada.companyId}/`);
    expect(left.body.results.map((task: { _id: number }) => task._id)).not.toContain(taskId);
    expect((await ada.get(pathOf(other))).status).toBe(200);
    const logs = await service.database.db
      .selectFrom('task_logs')
      .where('company_id', '=', ada.companyId)
      .where('task_id', '=', taskId)
      .select('duration_seconds')
      .execute();
    expect(logs).toEqual([{ duration_seconds: 7200 }]);
  });

  test('may be deleted by a team leader and an admin', async () => {
    for (const person of [leader, ada])
      expect((await person.delete(pathOf(await start(grace)))).body).toEqual({ success: true });
  });

  test('is deleted once by ten who try at once', async () => {
    const project = await start(grace);
    const answers = await Promise.all(Array.from({ length: 10 }, () => grace.delete(pathOf(project))));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 404)).toHaveLength(9);
  });
});

describe('a project of another company', () => {
  test('is not found, in the words of one that does not exist, and is not touched', async () => {
    const project = await start(ada);
    const foreign = await Promise.all(neighbourTries(pathOf(project)));
    const absent = await Promise.all(neighbourTries('/api/projects/999999/'));
    for (const [index, answer] of foreign.entries()) {
      expect(errorOf(answer)).toEqual({ status: 404, code: 'NOT_FOUND' });
      expect(Object.keys(answer.body)).toEqual(Object.keys(absent[index]!.body));
      expect(answer.body.detail).toBe(absent[index]!.body.detail);
    }
    expect((await ada.get(pathOf(project))).body).toEqual(project);
  });
});
