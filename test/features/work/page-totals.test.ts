import { expect, inject, test } from 'vitest';
import { lockProjectToDelete } from '../../../server/features/projects/queries.ts';
import { verifyCounts } from '../../../db/derived/verify-counts.ts';
import type { Actor } from '../../support/actor.ts';
import { waitForLockWaits } from '../../support/lock-waits.ts';
import { startService } from '../../support/service.ts';

/*
 * The totals of the pages of projects and tasks are maintained at each change: these tests check that they stay
 * correct.
 */

const service = await startService();
const { db } = service.database;

const startProject = async (by: Actor): Promise<number> =>
  (await by.post('/api/projects/', { name: 'Engine' })).body._id;
const addTask = async (by: Actor, projectId: number, more: object = {}): Promise<number> =>
  (await by.post('/api/tasks/', { projectId, title: 'Cut the gears', ...more })).body._id;
const totalOf = async (by: Actor, list: 'tasks' | 'projects', query = ''): Promise<number> =>
  (await by.get(`/api/${list}/company/${by.companyId}/?${query}`)).body.total;
const differences = async ({ companyId }: Actor) => (await verifyCounts(db, companyId)).differences;

test('totals follow projects and tasks as they come, change and go, under every filter', async () => {
  const ada = await service.registerCompany();
  const grace = await service.addEmployee(ada);
  const [first, second] = [await startProject(ada), await startProject(ada)];
  await addTask(ada, first);
  const moved = await addTask(ada, first, { status: 'in_review', owner_id: grace.employeeId });
  await addTask(ada, second, { status: 'done' });
  const gone = await addTask(ada, second);
  await ada.patch(`/api/tasks/${moved}/`, { projectId: second, status: 'done' });
  await ada.delete(`/api/tasks/${gone}/`);
  await ada.patch(`/api/projects/${second}/`, { status: 'archived' });
  const graces = `owner_id=${grace.employeeId}`;
  const totals = async () => ({
    all: await totalOf(ada, 'tasks'),
    done: await totalOf(ada, 'tasks', 'status=done'),
    todo: await totalOf(ada, 'tasks', 'status=todo'),
    graces: await totalOf(ada, 'tasks', graces),
    gracesTodo: await totalOf(ada, 'tasks', `${graces}&status=todo`),
    titled: await totalOf(ada, 'tasks', 'q=gears'),
    projects: await totalOf(ada, 'projects'),
    archived: await totalOf(ada, 'projects', 'status=archived'),
  });
  expect(await totals()).toEqual({
    all: 3,
    done: 2,
    todo: 1,
    graces: 1,
    gracesTodo: 0,
    titled: 3,
    projects: 2,
    archived: 1,
  });
  expect(await totalOf(ada, 'tasks', `projectId=${second}`)).toBe(2);

  await ada.delete(`/api/projects/${second}/`);
  expect(await totals()).toEqual({
    all: 1,
    done: 0,
    todo: 1,
    graces: 0,
    gracesTodo: 0,
    titled: 1,
    projects: 1,
    archived: 0,
  });
  expect(await differences(ada)).toEqual([]);
});

test('what is refused counts nothing', async () => {
  const ada = await service.registerCompany();
  const projectId = await startProject(ada);
  const refused = [
    await ada.post('/api/tasks/', { projectId, title: 'A', collaboratorIds: [987_654] }),
    await ada.post('/api/tasks/', { projectId: 987_654, title: 'A' }),
    await ada.post('/api/projects/', { name: 'A', owner_id: 987_654 }),
  ];
  expect(refused.map(({ status }) => status)).toEqual([400, 400, 400]);
  expect([await totalOf(ada, 'tasks'), await totalOf(ada, 'projects'), await differences(ada)]).toEqual([0, 1, []]);
});

/* On one connection nothing happens at once. */
test.runIf(inject('template').kind === 'server')(
  'a project that is deleted takes with it what others add, move and delete at that moment',
  async () => {
    const ada = await service.registerCompany();
    const { companyId } = ada;
    const [projectId, other] = [await startProject(ada), await startProject(ada)];
    const [leaving, going, coming] = [
      await addTask(ada, projectId),
      await addTask(ada, projectId),
      await addTask(ada, other),
    ];

    const deletion = service.database.begin();
    await lockProjectToDelete(deletion.db, companyId, projectId);
    const others = [
      ada.post('/api/tasks/', { projectId, title: 'Added' }),
      ada.patch(`/api/tasks/${leaving}/`, { projectId: other, status: 'done' }),
      ada.delete(`/api/tasks/${going}/`),
      ada.patch(`/api/tasks/${coming}/`, { projectId }),
    ];
    // They have written what they could by then, and wait for the project.
    await waitForLockWaits(db, others.length);
    await deletion.db
      .updateTable('projects')
      .set({ deleted_at: new Date() })
      .where('company_id', '=', companyId)
      .where('project_id', '=', projectId)
      .execute();
    await deletion.commit();
    expect((await Promise.all(others)).map((answer) => answer.status)).toEqual([200, 200, 200, 200]);
    expect(await differences(ada)).toEqual([]);
    expect(await totalOf(ada, 'tasks')).toBe(1);
  },
);
