import { describe, expect, test } from 'vitest';
import type { Actor } from '../../support/actor.ts';
import { startService } from '../../support/service.ts';
import { startWork } from '../../support/work.ts';

const service = await startService();
const admin = await service.registerCompany();
const ada = await service.addEmployee(admin, { first_name: 'Ada', last_name: 'A', isTeamLeader: true });
const bob = await service.addEmployee(admin, { first_name: 'Bob', last_name: 'B' });
const cy = await service.addEmployee(admin, { first_name: 'Cy', last_name: 'C' });
const outsider = await service.registerCompany({ name: 'Elsewhere' });
const { projectId } = await startWork(admin, { name: 'Engine' });
const everybody = [admin, ada, bob, cy, outsider];

/** What somebody is told since they last asked. */
async function told(person: Actor): Promise<Record<string, unknown>[]> {
  await service.drain();
  const { body } = await person.get(`/notifications/recipient/${person.employeeId}/`);
  await person.delete(`/notifications/${person.employeeId}/clear/`);
  return body.results;
}
const forget = async () => void (await Promise.all(everybody.map(told)));
const expectSilence = async (...people: Actor[]) => {
  for (const person of people) expect([person.name, await told(person)]).toEqual([person.name, []]);
};

describe('a task', () => {
  test('tells its new owner and collaborators, each once, and not the person who did it', async () => {
    await forget();
    const { body: task } = await ada.post('/api/tasks/', {
      projectId,
      title: 'Cut gears',
      owner_id: bob.employeeId,
      collaboratorIds: [ada.employeeId, bob.employeeId, cy.employeeId],
    });
    const common = {
      app_type: 'task',
      category: 'task',
      priorty: 'primary',
      actor: { _id: ada.employeeId, name: 'Ada A' },
      taskId: task._id,
      projectId,
      commentId: null,
    };
    expect(await told(bob)).toMatchObject([{ ...common, title: 'Ada A assigned you Cut gears' }]);
    expect(await told(cy)).toMatchObject([{ ...common, title: 'Ada A made you a collaborator on Cut gears' }]);
    await expectSilence(ada, admin, outsider);

    const path = `/api/tasks/${task._id}/`;
    const everyone = [ada.employeeId, bob.employeeId, cy.employeeId, admin.employeeId];
    await ada.patch(path, { owner_id: bob.employeeId, collaboratorIds: everyone, title: 'Cut more gears' });
    expect(await told(admin)).toMatchObject([{ ...common, title: 'Ada A made you a collaborator on Cut more gears' }]);
    await expectSilence(ada, bob, cy, outsider);
    await ada.patch(path, { owner_id: cy.employeeId });
    await ada.patch(path, { owner_id: ada.employeeId });
    await ada.patch(path, { owner_id: bob.employeeId });
    expect(await told(bob)).toMatchObject([{ ...common, title: 'Ada A assigned you Cut more gears' }]);
    await expectSilence(ada, cy);
  });

  test('that is refused or deleted tells nobody, and neither does one of one’s own', async () => {
    await forget();
    const foreign = { projectId, title: 'No', owner_id: bob.employeeId, collaboratorIds: [outsider.employeeId] };
    expect((await ada.post('/api/tasks/', foreign)).status).toBe(400);
    const { body } = await ada.post('/api/tasks/', { ...foreign, collaboratorIds: [] });
    await ada.delete(`/api/tasks/${body._id}/`);
    await ada.post('/api/tasks/', { projectId, title: 'Mine', collaboratorIds: [ada.employeeId] });
    await expectSilence(...everybody);
  });

  test('tells nobody who wants no notifications of tasks, and nobody who has left', async () => {
    await forget();
    const preferences = `/api/notification-preferences/${bob.employeeId}/`;
    await bob.put(preferences, { task: { inApp: false, email: false } });
    await ada.post('/api/tasks/', { projectId, title: 'Quiet', owner_id: bob.employeeId });
    await expectSilence(bob);
    await bob.put(preferences, { task: { inApp: true, email: false } });
    const leaver = await service.addEmployee(admin);
    await ada.post('/api/tasks/', { projectId, title: 'Late', owner_id: leaver.employeeId });
    await admin.patch(`/api/employees/${leaver.employeeId}/`, { is_active: false });
    await service.drain();
    expect(await rowsOf(leaver)).toEqual([]);
  });
});

async function rowsOf({ companyId, employeeId }: Actor): Promise<unknown[]> {
  return service.database.db
    .selectFrom('notifications')
    .where('company_id', '=', companyId)
    .where('recipient_id', '=', employeeId)
    .selectAll()
    .execute();
}

test('a project tells its new owner, and admins where its hours are exceeded', async () => {
  await forget();
  const { body: project } = await admin.post('/api/projects/', { name: 'Loom', owner_id: bob.employeeId });
  const common = { app_type: 'task', category: 'project', priorty: 'primary', projectId: project._id, taskId: null };
  expect(await told(bob)).toMatchObject([{ ...common, title: `${admin.name} made you the owner of Loom` }]);
  await admin.patch(`/api/projects/${project._id}/`, { owner_id: cy.employeeId, allocatedHours: 1 });
  expect(await told(cy)).toMatchObject([common]);
  await admin.patch(`/api/projects/${project._id}/`, { owner_id: cy.employeeId });
  await admin.patch(`/api/projects/${project._id}/`, { owner_id: admin.employeeId });
  await expectSilence(...everybody);
  const { body: task } = await bob.post('/api/tasks/', { projectId: project._id, title: 'Weave' });
  const log = { start_time: '2026-03-02T08:00:00Z', end_time: '2026-03-02T10:00:00Z' };
  await bob.post('/tasklog/create/', { task_id: task._id, employee_id: bob.employeeId, ...log });
  expect(await told(admin)).toMatchObject([{ ...common, title: 'Loom is over its allocated hours' }]);
  await expectSilence(bob, cy, ada, outsider);
});

test('the company notifies everybody but the person who did it of another name or time zone', async () => {
  await forget();
  const path = `/company/${admin.companyId}/update/`;
  const notice = { app_type: 'hr', category: 'notice', priorty: 'others', taskId: null, projectId: null };
  await admin.put(path, { name: 'Difference Engines', timezone: 'Europe/Berlin' });
  for (const person of [ada, bob, cy])
    expect(await told(person)).toMatchObject([
      { ...notice, title: 'Your company is called Difference Engines now', actor: { _id: admin.employeeId } },
    ]);
  await expectSilence(admin, outsider);
  await admin.put(path, { name: 'Difference Engines', timezone: 'Europe/Berlin' });
  await admin.put(path, {});
  await expectSilence(...everybody);
  await admin.put(path, { timezone: 'UTC' });
  expect(await told(bob)).toMatchObject([{ ...notice, title: 'Your company has another time zone' }]);
});

test('comments and likes name task, comment and project', async () => {
  const { body: task } = await bob.post('/api/tasks/', { projectId, title: 'Talk' });
  await forget();
  const { body: comment } = await ada.post('/api/task-chats/', {
    taskId: task._id,
    sender: ada.employeeId,
    message: 'Now',
  });
  const common = { app_type: 'task', category: 'message', taskId: task._id, commentId: comment._id, projectId };
  expect(await told(bob)).toMatchObject([{ ...common, priorty: 'updates' }]);
  await bob.post(`/api/like-chat/${bob.employeeId}/${comment._id}/`);
  expect(await told(ada)).toMatchObject([{ ...common, priorty: 'activity' }]);
  await expectSilence(bob);
});

test('a timer that ran a whole day waits for its owner', async () => {
  const { body: task } = await cy.post('/api/tasks/', { projectId, title: 'Long' });
  await forget();
  await cy.post('/api/tasklogs/timer/start/', { taskId: task._id });
  service.clock.advance({ hours: 24, seconds: 1 });
  await service.drain();
  const fresh = await service.signIn(cy.email, cy.companyId);
  expect(await told(fresh)).toMatchObject([
    { app_type: 'hr', category: 'need_attention', priorty: 'primary', taskId: task._id, projectId },
  ]);
});
