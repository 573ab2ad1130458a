import { describe, expect, test } from 'vitest';
import { got, said } from '../caller.ts';
import { service } from '../running.ts';
import { addComment, addLog, addProject, addTask, entryAt, hourAt } from '../work.ts';

/* Contract 3: who may do what. That every operation treats another company's things as absent: see the last test too. */

const admin = await service.register();
const [member, other, leader] = [await service.join(admin), await service.join(admin), await service.join(admin)];
got(await admin.patch(`/api/employees/${leader._id}/`, { isTeamLeader: true }));
const neighbour = await service.register();
const project = await addProject(admin);
const { companyId } = admin;

describe('contract 3, a company_id', () => {
  test.each([
    ['GET', '/employee/list/ID/'],
    ['GET', '/employee/list/activeUsers/ID/'],
    ['GET', '/employee/list/InactiveUsers/ID/'],
    ['GET', '/api/performance/ID/'],
    ['GET', '/employees/search/ID/?q=a'],
    ['GET', '/company/ID/details/'],
    ['PUT', '/company/ID/update/'],
    ['GET', '/task-statistics/ID/'],
    ['GET', '/api/projects/company/ID/'],
    ['GET', '/api/tasks/company/ID/'],
    ['GET', '/api/timesheets/ID/?from=2026-03-01&to=2026-03-31'],
  ])('of %s %s is the caller’s own; another one is 404', async (method, path) => {
    const ask = (id: number) => admin.send(method, path.replace('ID', String(id)), method === 'PUT' ? {} : undefined);
    expect(said(await ask(companyId))).toBe('200');
    const [foreign, absent] = [await ask(neighbour.companyId), await ask(987_654_321)];
    expect([said(foreign), said(absent)]).toEqual(['404 NOT_FOUND', '404 NOT_FOUND']);
    expect(foreign.body.detail).toBe(absent.body.detail);
  });
});

describe('contract 3, admins alone', () => {
  test('add employees', async () => {
    const person = { first_name: 'A', last_name: 'B', email: service.newEmail(), companyId };
    for (const caller of [member, leader])
      expect(said(await caller.post('/employee/add/', person))).toBe('403 ADMIN_REQUIRED');
    expect(said(await admin.post('/employee/add/', person))).toBe('200');
  });

  test('update the company', async () => {
    for (const caller of [member, leader])
      expect(said(await caller.put(`/company/${companyId}/update/`, { name: 'Mine' }))).toBe('403 ADMIN_REQUIRED');
  });

  test.each([
    ['isAdmin', true],
    ['isTeamLeader', true],
    ['is_active', false],
    ['salary', 1],
    ['designation', 'Boss'],
    ['email', 'boss@example.com'],
  ])('set %s, on nobody and not on oneself otherwise', async (field, value) => {
    for (const target of [member, other])
      for (const caller of [member, leader])
        expect(said(await caller.patch(`/api/employees/${target._id}/`, { [field]: value }))).toBe(
          '403 ADMIN_REQUIRED',
        );
  });

  test('remove and restore employees', async () => {
    for (const caller of [member, leader]) {
      expect(said(await caller.delete(`/api/employees/${other._id}/`))).toBe('403 ADMIN_REQUIRED');
      expect(said(await caller.post(`/api/employees/${other._id}/restore/`))).toBe('403 ADMIN_REQUIRED');
    }
  });
});

describe('contract 3, an employee’s record', () => {
  test('is changed by themself in the fields of a profile', async () => {
    const profile = {
      first_name: 'Joan',
      last_name: 'Clarke',
      phone: '1',
      date_of_birth: '1990-01-02',
      date_of_joining: '2020-01-02',
      gender: 'f',
      country_code: 'GB',
    };
    expect(got(await member.patch(`/api/employees/${member._id}/`, profile))).toMatchObject({
      ...profile,
      name: 'Joan Clarke',
    });
  });

  test('is changed by nobody else but admins', async () => {
    for (const caller of [other, leader])
      expect(said(await caller.patch(`/api/employees/${member._id}/`, { phone: '2' }))).toMatch(/^403 /);
    expect(said(await admin.patch(`/api/employees/${member._id}/`, { phone: '2' }))).toBe('200');
    expect(said(await neighbour.patch(`/api/employees/${member._id}/`, { phone: '3' }))).toBe('404 NOT_FOUND');
  });

  test('has a picture that oneself or an admin sets', async () => {
    const path = `/employee/update-picture/${member._id}/`;
    for (const caller of [other, leader])
      expect(said(await caller.patch(path, { profilePicture: null }))).toMatch(/^403 /);
    for (const caller of [member, admin]) expect(said(await caller.patch(path, { profilePicture: null }))).toBe('200');
  });

  test('shows the salary to admins and to the employee themself, and null to others', async () => {
    got(await admin.patch(`/api/employees/${member._id}/`, { salary: 1234.5 }));
    for (const [caller, salary] of [
      [admin, 1234.5],
      [member, 1234.5],
      [other, null],
      [leader, null],
    ] as const) {
      expect(got(await caller.get(`/employee/me/${member._id}/`)).salary).toBe(salary);
      const lists = [
        `/employee/list/${companyId}/`,
        `/employee/list/activeUsers/${companyId}/`,
        `/employees/search/${companyId}/?q=Joan`,
      ];
      for (const path of lists) {
        const { employees } = got(await caller.get(path));
        expect(employees.find((one: { _id: number }) => one._id === member._id).salary).toBe(salary);
      }
    }
  });
});

describe('contract 3, the last active admin', async () => {
  const only = await service.register();

  test.each([
    ['demoted', 'PATCH', { isAdmin: false }],
    ['deactivated', 'PATCH', { is_active: false }],
    ['deleted', 'DELETE', undefined],
  ])('cannot be %s', async (_what, method, body) => {
    expect(said(await only.send(method, `/api/employees/${only._id}/`, body))).toBe('409 LAST_ADMIN');
  });

  test('can be demoted once there is another', async () => {
    const second = await service.join(only);
    got(await only.patch(`/api/employees/${second._id}/`, { isAdmin: true }));
    expect(got(await only.patch(`/api/employees/${only._id}/`, { isAdmin: false })).isAdmin).toBe(false);
    expect(said(await only.put(`/company/${only.companyId}/update/`, { name: 'x' }))).toBe('403 ADMIN_REQUIRED');
  });
});

describe('contract 3, performance', () => {
  test('shows all rows to admins and team leaders, and others their own', async () => {
    const seen = async (caller: typeof admin): Promise<number[]> =>
      got(await caller.get(`/api/performance/${companyId}/`)).employees.map(
        (one: { employee_id: number }) => one.employee_id,
      );
    for (const caller of [admin, leader])
      expect(await seen(caller)).toEqual(expect.arrayContaining([admin._id, member._id, other._id]));
    expect(await seen(member)).toEqual([member._id]);
  });
});

describe('contract 3, task logs', async () => {
  const task = await addTask(admin, { projectId: project._id });

  test('are written by the employee they are about, team leaders and admins', async () => {
    const write = (caller: typeof admin, hour: number) =>
      caller.post('/tasklog/create/', { task_id: task._id, employee_id: member._id, ...hourAt(hour) });
    expect(said(await write(other, 1))).toMatch(/^403 /);
    for (const [caller, hour] of [
      [member, 2],
      [leader, 3],
      [admin, 4],
    ] as const)
      expect(said(await write(caller, hour))).toBe('200');
  });

  test('are written in bulk by the same', async () => {
    const write = (caller: typeof admin, hour: number) =>
      caller.post(`/tasklogs/bulk/create/${member._id}/`, [entryAt(task._id, member._id, hour)]);
    expect(said(await write(other, 5))).toMatch(/^403 /);
    for (const [caller, hour] of [
      [member, 6],
      [leader, 7],
      [admin, 8],
    ] as const)
      expect(said(await write(caller, hour))).toBe('200');
    expect(said(await write(neighbour, 9))).toBe('404 NOT_FOUND');
  });

  test('are changed and deleted by the same', async () => {
    for (const [caller, hour] of [
      [leader, 10],
      [admin, 11],
      [member, 12],
    ] as const) {
      const log = await addLog(member, task._id, hour);
      expect(said(await other.put(`/tasklogs/${log._id}/`, { description: 'x' }))).toMatch(/^403 /);
      expect(said(await other.delete(`/api/tasklogs/delete/${log._id}/`))).toMatch(/^403 /);
      expect(said(await neighbour.delete(`/api/tasklogs/delete/${log._id}/`))).toBe('404 NOT_FOUND');
      expect(said(await caller.put(`/tasklogs/${log._id}/`, { description: 'x' }))).toBe('200');
      expect(said(await caller.delete(`/api/tasklogs/delete/${log._id}/`))).toBe('200');
    }
  });

  test('cannot be given to somebody else by an employee', async () => {
    const log = await addLog(member, task._id, 13);
    expect(said(await member.put(`/tasklogs/${log._id}/`, { userId: other._id }))).toMatch(/^403 /);
  });

  test('of a task are read by any active employee of the company', async () => {
    for (const caller of [member, other, leader, admin])
      expect(said(await caller.get(`/taskLogs/task/${task._id}/`))).toBe('200');
    expect(said(await neighbour.get(`/taskLogs/task/${task._id}/`))).toBe('404 NOT_FOUND');
  });
});

describe('contract 3, comments', async () => {
  const task = await addTask(member, { projectId: project._id });

  test('have the caller as sender, else 403', async () => {
    const comment = { taskId: task._id, sender: other._id, message: 'Not mine' };
    for (const caller of [member, admin])
      expect(said(await caller.post('/api/task-chats/', comment))).toBe('403 NOT_THE_SENDER');
  });

  test('are read and written by any active employee of the company', async () => {
    for (const caller of [member, other, leader, admin]) {
      expect((await addComment(caller, task._id)).sender._id).toBe(caller._id);
      expect(said(await caller.get(`/api/tasks/chat/${task._id}/`))).toBe('200');
    }
    expect(said(await neighbour.get(`/api/tasks/chat/${task._id}/`))).toBe('404 NOT_FOUND');
    expect(
      said(await neighbour.post('/api/task-chats/', { taskId: task._id, sender: neighbour._id, message: 'x' })),
    ).toBe('400 VALIDATION_FAILED taskId:not_found');
  });

  test('are edited by their author alone', async () => {
    const { _id } = await addComment(other, task._id);
    for (const caller of [member, leader, admin])
      expect(said(await caller.patch(`/api/edit-task-chats/${_id}/`, { message: 'x' }))).toBe('403 NOT_THE_AUTHOR');
    expect(said(await neighbour.patch(`/api/edit-task-chats/${_id}/`, { message: 'x' }))).toBe('404 NOT_FOUND');
    expect(said(await other.patch(`/api/edit-task-chats/${_id}/`, { message: 'x' }))).toBe('200');
  });

  test('are deleted by their author or the task’s owner', async () => {
    const [one, two] = [await addComment(other, task._id), await addComment(other, task._id)];
    for (const caller of [leader, admin])
      expect(said(await caller.delete(`/api/taskchat/${one._id}/`))).toBe('403 NOT_THE_AUTHOR_OR_OWNER');
    expect(said(await neighbour.delete(`/api/taskchat/${one._id}/`))).toBe('404 NOT_FOUND');
    expect(said(await other.delete(`/api/taskchat/${one._id}/`))).toBe('200');
    expect(said(await member.delete(`/api/taskchat/${two._id}/`))).toBe('200');
  });

  test('are liked and unliked for oneself', async () => {
    const { _id } = await addComment(other, task._id);
    for (const what of ['like', 'dislike'])
      expect(said(await admin.post(`/api/${what}-chat/${member._id}/${_id}/`))).toMatch(/^403 /);
  });
});

describe('contract 3, notifications', () => {
  test.each([
    ['GET', '/notifications/recipient/ID/'],
    ['POST', '/mark_notifications_as_read/ID/'],
    ['DELETE', '/notifications/ID/clear/'],
    ['GET', '/notifications/unread-count/ID/'],
    ['GET', '/api/notification-preferences/ID/'],
  ])('%s %s is for oneself', async (method, path) => {
    expect(said(await member.send(method, path.replace('ID', String(member._id))))).toBe('200');
    expect(said(await admin.send(method, path.replace('ID', String(member._id))))).toMatch(/^403 /);
    expect(said(await neighbour.send(method, path.replace('ID', String(member._id))))).toBe('404 NOT_FOUND');
  });
});

describe('contract 3, taking a task over', () => {
  test('is for its owner, its project’s owner, team leaders and admins', async () => {
    const owned = await addProject(other);
    const task = await addTask(member, { projectId: owned._id });
    const path = `/api/tasks/${task._id}/`;
    const outsider = await service.join(admin);
    for (const change of [{ owner_id: outsider._id }, { projectId: project._id }])
      expect(said(await outsider.patch(path, change))).toMatch(/^403 /);
    for (const caller of [member, other, leader, admin]) {
      const { projectId } = await addTask(caller, { projectId: owned._id });
      expect(projectId).toBe(owned._id);
      expect(said(await caller.patch(path, { owner_id: member._id }))).toBe('200');
    }
    expect(said(await outsider.patch(path, { title: 'Anybody may' }))).toBe('200');
  });
});

describe('contract 3, a deactivated or deleted employee', () => {
  test.each([
    ['deactivated', (id: number) => admin.patch(`/api/employees/${id}/`, { is_active: false })],
    ['deleted', (id: number) => admin.delete(`/api/employees/${id}/`)],
  ])('that is %s loses every session and key at once', async (_what, end) => {
    const leaver = await service.join(admin);
    const second = service.as(got(await service.codeLogin(leaver.email)));
    const key = await service.makeKey(leaver, ['read']);
    got(await end(leaver._id));
    for (const caller of [leaver, second, key])
      expect(said(await caller.get(`/employee/list/${companyId}/`))).toMatch(/^401 /);
    expect(got(await service.codeLogin(leaver.email)).employee).toBeNull();
  });
});
