import { describe, expect, test } from 'vitest';
import { errorOf, type Actor } from '../../support/actor.ts';
import { startService } from '../../support/service.ts';

const service = await startService();
const ada = await service.registerCompany({ name: 'Engines' });
const leader = await service.addEmployee(ada, { isTeamLeader: true });
const grace = await service.addEmployee(ada, { first_name: 'Grace', last_name: 'Hopper' });
const alan = await service.addEmployee(ada, { first_name: 'alan', last_name: 'Turing' });
const emile = await service.addEmployee(ada, { first_name: 'Émile', last_name: 'Borel' });
const neighbour = await service.registerCompany({ name: 'Looms' });

const project = await startProject(ada);
const foreignProject = await startProject(neighbour);

type Body = Record<string, unknown>;

async function startProject(by: Actor): Promise<number> {
  return (await by.post('/api/projects/', { name: 'Difference Engine' })).body._id;
}

async function add(by: Actor, task: Body = {}) {
  const { status, body } = await by.post('/api/tasks/', { projectId: project, title: 'Cut the gears', ...task });
  expect({ status, issues: body.issues }).toEqual({ status: 200, issues: undefined });
  return body;
}

const pathOf = (task: { _id: number }) => `/api/tasks/${task._id}/`;
const named = (person: Actor) => ({ _id: person.employeeId, name: person.name });

async function deactivate(person: Actor): Promise<void> {
  const { status } = await ada.patch(`/api/employees/${person.employeeId}/`, { is_active: false });
  expect(status).toBe(200);
}

const neighbourTries = (path: string) => [
  neighbour.get(path),
  neighbour.patch(path, { title: 'Ours', projectId: foreignProject, collaboratorIds: [neighbour.employeeId] }),
  neighbour.delete(path),
];

describe('a new task', () => {
  test('may be added by any employee, who owns it, and is to do', async () => {
    const task = await add(grace);
    expect(task).toEqual({
      _id: expect.any(Number),
      projectId: project,
      title: 'Cut the gears',
      description: null,
      status: 'todo',
      owner_id: grace.employeeId,
      collaborators: [],
      dueDate: null,
      estimatedHours: null,
      completedAt: null,
      createdAt: expect.stringMatching(/\.\d{3}Z$/),
      updatedAt: task.createdAt,
    });
    expect((await alan.get(pathOf(task))).body).toEqual(task);
  });

  test('takes all that is planned of it; its collaborators are told by name, each once', async () => {
    const plan = { description: 'In brass', dueDate: '2028-02-29', estimatedHours: 6.5, owner_id: alan.employeeId };
    const collaboratorIds = [grace, emile, alan, grace].map((one) => one.employeeId);
    const task = await add(grace, { ...plan, collaboratorIds, status: 'done' });
    expect(task).toMatchObject({ ...plan, status: 'done', completedAt: task.createdAt });
    expect(task.collaborators).toEqual([named(alan), named(emile), named(grace)]);
    expect((await ada.get(pathOf(task))).body).toEqual(task);
  });

  test('is refused for a project or an owner that the company lacks, with nothing stored', async () => {
    const before = await ada.get(`/api/tasks/company/${ada.companyId}/`);
    const gone = await service.addEmployee(ada);
    await deactivate(gone);
    const wrong: [Body, string][] = [
      [{ projectId: foreignProject }, 'projectId'],
      [{ projectId: 999_999 }, 'projectId'],
      [{ owner_id: neighbour.employeeId }, 'owner_id'],
      [{ owner_id: 999_999 }, 'owner_id'],
      [{ owner_id: gone.employeeId }, 'owner_id'],
    ];
    for (const [fields, field] of wrong) {
      const answer = await grace.post('/api/tasks/', { projectId: project, title: 'Never', ...fields });
      expect(errorOf(answer)).toEqual({ status: 400, code: 'VALIDATION_FAILED', issues: [field] });
      expect(answer.body.issues[0].code).toBe('not_found');
    }
    expect((await ada.get(`/api/tasks/company/${ada.companyId}/`)).body.total).toBe(before.body.total);
  });

  test('is refused by the place of each collaborator who is no active employee, with nothing stored', async () => {
    const before = await ada.get(`/api/tasks/company/${ada.companyId}/`);
    const gone = await service.addEmployee(ada);
    await deactivate(gone);
    const answer = await grace.post('/api/tasks/', {
      projectId: project,
      title: 'Never',
      collaboratorIds: [grace.employeeId, neighbour.employeeId, alan.employeeId, gone.employeeId, 999_999],
    });
    expect(errorOf(answer)).toEqual({
      status: 400,
      code: 'VALIDATION_FAILED',
      issues: ['collaboratorIds.1', 'collaboratorIds.3', 'collaboratorIds.4'],
    });
    expect(answer.body.issues.map((issue: { code: string }) => issue.code)).toEqual(Array(3).fill('not_found'));
    expect((await ada.get(`/api/tasks/company/${ada.companyId}/`)).body.total).toBe(before.body.total);
  });

  test.each([
    [{ title: ' ' }, 'title'],
    [{ title: ' \u200b\u200f' }, 'title'],
    [{ dueDate: '2027-02-29' }, 'dueDate'],
    [{ estimatedHours: -1 }, 'estimatedHours'],
    [{ status: 'open' }, 'status'],
    [{ collaboratorIds: Array.from({ length: 101 }, () => 1) }, 'collaboratorIds'],
    [{ collaboratorIds: ['1'] }, 'collaboratorIds.0'],
    [{ projectId: undefined }, 'projectId'],
  ])('is refused with %j', async (wrong, field) => {
    const answer = await grace.post('/api/tasks/', { projectId: project, title: 'Never', ...wrong });
    expect(errorOf(answer)).toEqual({ status: 400, code: 'VALIDATION_FAILED', issues: [field] });
  });
});

describe('a change of a task', () => {
  test('may be made by any employee, keeps what is not sent and clears what is null', async () => {
    const task = await add(grace, {
      description: 'In brass',
      dueDate: '2027-01-02',
      collaboratorIds: [alan.employeeId, emile.employeeId],
    });
    const bystander = await add(grace, { collaboratorIds: [alan.employeeId] });
    const renamed = await alan.patch(pathOf(task), { title: 'Cut all gears', dueDate: null, estimatedHours: 3 });
    expect(renamed.status).toBe(200);
    expect(renamed.body).toEqual({
      ...task,
      title: 'Cut all gears',
      dueDate: null,
      estimatedHours: 3,
      updatedAt: expect.any(String),
    });
    const replaced = await alan.patch(pathOf(task), { collaboratorIds: [grace.employeeId, alan.employeeId] });
    expect(replaced.body.collaborators).toEqual([named(alan), named(grace)]);
    expect((await alan.patch(pathOf(task), { collaboratorIds: [] })).body.collaborators).toEqual([]);
    expect((await grace.get(pathOf(bystander))).body).toEqual(bystander);
  });

  test('to done sets completedAt, which stays while it is done and goes when it is not', async () => {
    const task = await add(grace);
    service.clock.advance({ minutes: 1 });
    const done = await grace.patch(pathOf(task), { status: 'done' });
    expect(done.body.completedAt).toBe(done.body.updatedAt);
    service.clock.advance({ minutes: 1 });
    const still = await grace.patch(pathOf(task), { status: 'done', title: 'Cut' });
    expect(still.body.completedAt).toBe(done.body.completedAt);
    expect((await grace.patch(pathOf(task), { title: 'Cut it' })).body.completedAt).toBe(done.body.completedAt);
    expect((await grace.patch(pathOf(task), { status: 'in_review' })).body.completedAt).toBeNull();
    service.clock.advance({ minutes: 1 });
    const again = await grace.patch(pathOf(task), { status: 'done' });
    expect(again.body.completedAt > done.body.completedAt).toBe(true);
  });

  test('keeps an owner and collaborators who have been deactivated, and takes no new ones of such', async () => {
    const gone = await service.addEmployee(ada);
    const task = await add(gone, { collaboratorIds: [gone.employeeId, alan.employeeId] });
    await deactivate(gone);
    const kept = await grace.patch(pathOf(task), {
      owner_id: gone.employeeId,
      collaboratorIds: [emile.employeeId, gone.employeeId],
    });
    expect(kept.body).toMatchObject({ owner_id: gone.employeeId });
    expect(kept.body.collaborators).toEqual([named(emile), named(gone)]);

    const other = await add(grace);
    const collaboratorIds = [grace.employeeId, gone.employeeId];
    expect(errorOf(await grace.patch(pathOf(other), { collaboratorIds })).issues).toEqual(['collaboratorIds.1']);
    for (const owner_id of [gone.employeeId, neighbour.employeeId])
      expect(errorOf(await grace.patch(pathOf(other), { title: 'Never', owner_id })).issues).toEqual(['owner_id']);
    for (const projectId of [foreignProject, 999_999])
      expect(errorOf(await grace.patch(pathOf(other), { title: 'Never', projectId })).issues).toEqual(['projectId']);
    expect((await grace.get(pathOf(other))).body).toEqual(other);
  });

  test('of collaborators by ten at once leaves one of the ten lists whole', async () => {
    const task = await add(grace);
    const lists = Array.from({ length: 10 }, (_, index) =>
      (index % 2 === 0 ? [alan, emile] : [grace, leader]).map((one) => one.employeeId),
    );
    const answers = await Promise.all(lists.map((collaboratorIds) => grace.patch(pathOf(task), { collaboratorIds })));
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200));
    const { body } = await grace.get(pathOf(task));
    expect([
      [named(alan), named(emile)],
      [named(grace), named(leader)],
    ]).toContainEqual(body.collaborators);
  });
});

describe('a deleted task', () => {
  test('is gone for everybody; its owner, team leaders and admins may delete it, and nobody else', async () => {
    const spared = await add(grace);
    for (const person of [grace, leader, ada]) {
      const task = await add(grace, { collaboratorIds: [alan.employeeId] });
      expect(errorOf(await alan.delete(pathOf(task)))).toEqual({ status: 403, code: 'FORBIDDEN' });
      expect((await alan.get(pathOf(task))).body).toEqual(task);
      expect((await person.delete(pathOf(task))).body).toEqual({ success: true });
      for (const answer of [
        await person.get(pathOf(task)),
        await person.patch(pathOf(task), { title: 'Back' }),
        await person.delete(pathOf(task)),
      ])
        expect(errorOf(answer)).toEqual({ status: 404, code: 'NOT_FOUND' });
    }
    expect((await grace.get(pathOf(spared))).body).toEqual(spared);
  });

  test('is deleted once by ten who try at once', async () => {
    const task = await add(grace);
    const answers = await Promise.all(Array.from({ length: 10 }, () => grace.delete(pathOf(task))));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 404)).toHaveLength(9);
  });
});

describe('a task of another company', () => {
  test('is not found, in the words of one that does not exist, and is not touched', async () => {
    const task = await add(ada, { collaboratorIds: [alan.employeeId] });
    const foreign = await Promise.all(neighbourTries(pathOf(task)));
    const absent = await Promise.all(neighbourTries('/api/tasks/999999/'));
    for (const [index, answer] of foreign.entries()) {
      expect(errorOf(answer)).toEqual({ status: 404, code: 'NOT_FOUND' });
      expect(Object.keys(answer.body)).toEqual(Object.keys(absent[index]!.body));
      expect(answer.body.detail).toBe(absent[index]!.body.detail);
    }
    expect((await ada.get(pathOf(task))).body).toEqual(task);
  });
});
