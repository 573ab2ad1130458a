import { describe, expect, test } from 'vitest';
import { errorOf, type Actor } from '../../support/actor.ts';
import { startService } from '../../support/service.ts';

const service = await startService();
const ada = await service.registerCompany({ name: 'Engines' });
const leader = await service.addEmployee(ada, { isTeamLeader: true });
const projectOwner = await service.addEmployee(ada);
const owner = await service.addEmployee(ada);
const grace = await service.addEmployee(ada);
const neighbour = await service.registerCompany({ name: 'Looms' });

const forbidden = { status: 403, code: 'FORBIDDEN' };
const pathOf = (task: number) => `/api/tasks/${task}/`;
const startProject = async (by: Actor): Promise<number> =>
  (await by.post('/api/projects/', { name: 'Difference Engine' })).body._id;

const project = await startProject(projectOwner);

/** A task of `owner` in a project of `projectOwner`. */
async function addTask(): Promise<number> {
  return (await owner.post('/api/tasks/', { projectId: project, title: 'Cut the gears' })).body._id;
}

const read = async (task: number) => (await ada.get(pathOf(task))).body;

describe('a task', () => {
  test('is taken over by no other employee, who therefore deletes no comment of others', async () => {
    const task = await addTask();
    const comment = await owner.post('/api/task-chats/', {
      taskId: task,
      sender: owner.employeeId,
      message: 'Not yours',
    });
    const before = await read(task);
    expect(errorOf(await grace.patch(pathOf(task), { owner_id: grace.employeeId }))).toEqual(forbidden);
    expect(errorOf(await grace.patch(pathOf(task), { title: 'Mine', owner_id: grace.employeeId }))).toEqual(forbidden);
    expect(await read(task)).toEqual(before);
    expect(errorOf(await grace.delete(`/api/taskchat/${comment.body._id}/`))).toEqual({
      status: 403,
      code: 'NOT_THE_AUTHOR_OR_OWNER',
    });
    expect((await owner.get(`/api/tasks/chat/${task}/`)).body.comments).toMatchObject([{ isDeleted: false }]);
  });

  test('is pulled by no other employee into a project of their own', async () => {
    const task = await addTask();
    const own = await startProject(grace);
    expect(errorOf(await grace.patch(pathOf(task), { projectId: own }))).toEqual(forbidden);
    // Nothing is said of a project that is not there either.
    expect(errorOf(await grace.patch(pathOf(task), { projectId: 999_999 }))).toEqual(forbidden);
    expect((await read(task)).projectId).toBe(project);
    expect(errorOf(await grace.delete(pathOf(task)))).toEqual(forbidden);
  });

  test('keeps its owner and project where an employee sends them as they are, beside what they may change', async () => {
    const task = await addTask();
    const changed = await grace.patch(pathOf(task), {
      title: 'Cut all gears',
      owner_id: owner.employeeId,
      projectId: project,
    });
    expect(changed.body).toMatchObject({ title: 'Cut all gears', owner_id: owner.employeeId, projectId: project });
  });

  test.each([
    ['its owner', owner],
    ["its project's owner", projectOwner],
    ['a team leader', leader],
    ['an admin', ada],
  ])('is handed over and moved by %s, into any project of the company', async (_who, by) => {
    const task = await addTask();
    const elsewhere = await startProject(grace);
    const moved = await by.patch(pathOf(task), { projectId: elsewhere, owner_id: grace.employeeId });
    expect(moved.body).toMatchObject({ projectId: elsewhere, owner_id: grace.employeeId });
  });

  test('is no more in the hands of who gave it away', async () => {
    const task = await addTask();
    expect((await owner.patch(pathOf(task), { owner_id: grace.employeeId })).status).toBe(200);
    expect(errorOf(await owner.patch(pathOf(task), { owner_id: owner.employeeId }))).toEqual(forbidden);
    expect((await read(task)).owner_id).toBe(grace.employeeId);
  });

  test('is deleted by those who may hand it over', async () => {
    for (const by of [owner, projectOwner, leader, ada]) {
      const task = await addTask();
      expect((await by.delete(pathOf(task))).status).toBe(200);
    }
  });

  test('is not there for another company', async () => {
    const task = await addTask();
    const taken = await neighbour.patch(pathOf(task), { owner_id: neighbour.employeeId });
    expect(errorOf(taken)).toEqual({ status: 404, code: 'NOT_FOUND' });
  });
});
