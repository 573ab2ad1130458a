import { parse } from 'csv-parse/sync';
import { describe, expect, test } from 'vitest';
import { got, said } from '../caller.ts';
import { service } from '../running.ts';
import { addLog, addProject, addTask, fields, fieldsOf } from '../work.ts';

/* Contract 5: what is served beside the documented operations. Sessions, keys and invitations are in files of their own. */

const { anonymous } = service;
const admin = await service.register();
const member = await service.join(admin);
const neighbour = await service.register();
const { companyId } = admin;
const theirs = await addTask(neighbour);
const projectFields = fields(
  '_id, name, description, companyId, owner_id, allocatedHours, loggedHours, billable, budget, amounts, status, createdAt, updatedAt',
);
const taskFields = fields(
  '_id, projectId, title, description, status, owner_id, collaborators, dueDate, estimatedHours, completedAt, createdAt, updatedAt',
);
const page = fields('results, page, pageSize, total, totalPages');
type Listed = { _id: number; title: string };
const idsOf = (list: Listed[]): number[] => list.map(({ _id }) => _id);

describe('contract 5, the additions', () => {
  const additions = [
    'POST /api/projects/',
    'GET /api/projects/company/{company_id}/',
    'GET /api/projects/{project_id}/',
    'PATCH /api/projects/{project_id}/',
    'DELETE /api/projects/{project_id}/',
    'POST /api/tasks/',
    'GET /api/tasks/company/{company_id}/',
    'GET /api/tasks/{task_id}/',
    'PATCH /api/tasks/{task_id}/',
    'DELETE /api/tasks/{task_id}/',
    'DELETE /api/employees/{_id}/',
    'POST /api/employees/{_id}/restore/',
    'POST /api/employees/{_id}/erase/',
    'POST /api/company/{company_id}/close/',
    'POST /api/company/{company_id}/reopen/',
    'POST /api/tasklogs/timer/start/',
    'POST /api/tasklogs/timer/stop/',
    'GET /api/tasklogs/timer/{employee_id}/',
    'DELETE /api/tasklogs/timer/{employee_id}/',
    'GET /api/timesheets/{company_id}/',
    'PATCH /api/notifications/{notification_id}/',
    'GET /api/notification-preferences/{employee_id}/',
    'PUT /api/notification-preferences/{employee_id}/',
    'GET /api/sessions/',
    'DELETE /api/sessions/{session_id}/',
    'GET /api/invitations/',
    'POST /api/invitations/{invitation_id}/accept/',
    'POST /api/invitations/{invitation_id}/decline/',
    'GET /api/employees/{_id}/access/',
    'DELETE /api/employees/{_id}/sessions/',
    'DELETE /api/employees/{_id}/api-keys/',
    'POST /api/api-keys/',
    'GET /api/api-keys/',
    'DELETE /api/api-keys/{key_id}/',
    'POST /api/oauth/authorizations/',
    'POST /api/token/refresh/',
    'POST /logout/',
  ];

  test.each(additions)('%s is served, and marked as an addition', async (name) => {
    const [method, path] = name.split(' ') as [string, string];
    const { paths } = got(await anonymous.get('/openapi.json'));
    expect(paths[path]?.[method.toLowerCase()]?.tags).toContain('Additions');
    expect(said(await anonymous.send(method, path.replaceAll(/\{\w+\}/g, '1')))).toMatch(
      /^(401 UNAUTHENTICATED|400 VALIDATION_FAILED .*)$/,
    );
  });
});

describe('contract 5, projects', () => {
  test('are made with a name, and belong to who makes them', async () => {
    const project = await addProject(member);
    expect(fieldsOf(project)).toEqual(projectFields);
    expect(project).toMatchObject({
      companyId,
      owner_id: member._id,
      description: null,
      allocatedHours: null,
      loggedHours: 0,
      status: 'active',
    });
  });

  test('take description, allocatedHours and owner_id', async () => {
    const more = { description: 'Brass', allocatedHours: 12.5, owner_id: member._id };
    expect(await addProject(admin, more)).toMatchObject(more);
    expect(said(await admin.post('/api/projects/', { name: 'x', owner_id: neighbour._id }))).toBe(
      '400 VALIDATION_FAILED owner_id:not_found',
    );
  });

  test('are listed in pages, by status and by what is in the name', async () => {
    const boss = await service.register();
    const made = [];
    for (let nth = 0; nth < 12; nth += 1) made.push(await addProject(boss));
    got(await boss.patch(`/api/projects/${made[0]._id}/`, { status: 'completed' }));
    const list = async (query = '') => got(await boss.get(`/api/projects/company/${boss.companyId}/${query}`));
    const first = await list();
    expect(fieldsOf(first)).toEqual(page);
    expect(first).toMatchObject({ page: 1, total: 12, totalPages: Math.ceil(12 / first.pageSize) });
    const ids: number[] = [];
    for (let number = 1; number <= first.totalPages; number += 1)
      ids.push(...idsOf((await list(`?page=${number}`)).results));
    expect(ids.toSorted((a, b) => a - b)).toEqual(idsOf(made).toSorted((a, b) => a - b));
    expect(idsOf((await list('?status=completed')).results)).toEqual([made[0]._id]);
    const { _id } = got(await boss.patch(`/api/projects/${made[1]._id}/`, { name: 'Looms' }));
    expect(idsOf((await list('?q=OOM')).results)).toEqual([_id]);
    expect((await list(`?page=${first.totalPages + 1}`)).results).toEqual([]);
  });

  test('are read, changed in any subset, and deleted', async () => {
    const { _id } = await addProject(member);
    const path = `/api/projects/${_id}/`;
    expect(fieldsOf(got(await admin.get(path)))).toEqual(projectFields);
    const change = { name: 'Renamed', description: 'D', allocatedHours: 3, status: 'on_hold' };
    for (const [field, value] of Object.entries(change))
      expect(got(await member.patch(path, { [field]: value }))).toMatchObject({ [field]: value });
    expect(said(await neighbour.get(path))).toBe('404 NOT_FOUND');
    expect(said(await neighbour.patch(path, { name: 'x' }))).toBe('404 NOT_FOUND');
    expect(got(await member.delete(path))).toEqual({ success: true });
    expect(said(await admin.get(path))).toBe('404 NOT_FOUND');
  });

  test('know the hours logged on them', async () => {
    const task = await addTask(admin);
    await addLog(admin, task._id, 8);
    expect(got(await admin.get(`/api/projects/${task.projectId}/`)).loggedHours).toBe(1);
  });
});

describe('contract 5, tasks', () => {
  test('are made with a project and a title, and belong to the caller by default', async () => {
    const task = await addTask(member);
    expect(fieldsOf(task)).toEqual(taskFields);
    expect(task).toMatchObject({
      owner_id: member._id,
      status: 'todo',
      collaborators: [],
      dueDate: null,
      estimatedHours: null,
      completedAt: null,
    });
  });

  test('take description, owner_id, collaboratorIds, status, dueDate and estimatedHours', async () => {
    const { collaborators, ...task } = await addTask(admin, {
      description: 'Brass',
      owner_id: member._id,
      collaboratorIds: [admin._id],
      status: 'in_review',
      dueDate: '2026-12-31',
      estimatedHours: 1.5,
    });
    expect(task).toMatchObject({
      description: 'Brass',
      owner_id: member._id,
      status: 'in_review',
      dueDate: '2026-12-31',
      estimatedHours: 1.5,
    });
    expect(collaborators).toEqual([{ _id: admin._id, name: admin.name }]);
  });

  test('are in one of four states, and are completed when done', async () => {
    const task = await addTask(admin);
    const path = `/api/tasks/${task._id}/`;
    for (const status of ['in_progress', 'in_review', 'todo'])
      expect(got(await admin.patch(path, { status }))).toMatchObject({ status, completedAt: null });
    expect(got(await admin.patch(path, { status: 'done' })).completedAt).toMatch(/Z$/);
    expect(got(await admin.patch(path, { status: 'todo' })).completedAt).toBeNull();
    expect(said(await admin.patch(path, { status: 'blocked' }))).toBe('400 VALIDATION_FAILED status:invalid_value');
  });

  test('name things of their company alone', async () => {
    const project = await addProject(admin);
    const make = (more: object) => admin.post('/api/tasks/', { title: 'x', projectId: project._id, ...more });
    expect(said(await make({ owner_id: neighbour._id }))).toBe('400 VALIDATION_FAILED owner_id:not_found');
    expect(said(await make({ collaboratorIds: [admin._id, neighbour._id] }))).toMatch(
      /^400 VALIDATION_FAILED collaboratorIds\.1:not_found$/,
    );
    expect(said(await make({ dueDate: '2026-02-30' }))).toBe('400 VALIDATION_FAILED dueDate:invalid_format');
  });

  test('are listed in pages, by projectId, status, owner_id, dueBy and q', async () => {
    const boss = await service.register();
    const worker = await service.join(boss);
    const [one, two] = [await addProject(boss), await addProject(boss)];
    const gears = await addTask(boss, { projectId: one._id, title: 'Cut the gears', dueDate: '2026-03-06' });
    const tables = await addTask(boss, {
      projectId: two._id,
      title: 'Print tables',
      status: 'done',
      owner_id: worker._id,
    });
    const list = async (query = '') => got(await boss.get(`/api/tasks/company/${boss.companyId}/${query}`));
    expect(fieldsOf(await list())).toEqual([...page, 'isTotalCapped', 'nextCursor'].toSorted());
    expect((await list()).total).toBe(2);
    for (const task of (await list()).results) expect(fieldsOf(task)).toEqual(taskFields);
    for (const [query, expected] of [
      [`?projectId=${one._id}`, gears],
      ['?status=done', tables],
      [`?owner_id=${worker._id}`, tables],
      ['?q=GEARS', gears],
      ['?dueBy=2026-03-06', gears],
    ] as const)
      expect([query, idsOf((await list(query)).results)]).toEqual([query, [expected._id]]);
    expect((await list(`?q=gears&status=done`)).results).toEqual([]);
  });

  test('are read, changed in any subset, and deleted with what is on them', async () => {
    const task = await addTask(member);
    const path = `/api/tasks/${task._id}/`;
    const change = { title: 'Renamed', description: 'D', dueDate: '2027-01-01', estimatedHours: 2 };
    for (const [field, value] of Object.entries(change))
      expect(got(await member.patch(path, { [field]: value }))).toMatchObject({ [field]: value });
    expect(got(await member.patch(path, { collaboratorIds: [admin._id] })).collaborators).toHaveLength(1);
    expect(got(await admin.get(path)).title).toBe('Renamed');
    for (const method of ['GET', 'PATCH', 'DELETE'])
      expect(said(await neighbour.send(method, path, method === 'PATCH' ? {} : undefined))).toBe('404 NOT_FOUND');
    expect(got(await member.delete(path))).toEqual({ success: true });
    expect(said(await admin.get(path))).toBe('404 NOT_FOUND');
    expect(said(await admin.get(`/taskLogs/task/${task._id}/`))).toBe('404 NOT_FOUND');
  });
});

describe('contract 5, removing and restoring an employee', () => {
  test('marks as deleted, loses nothing of their work, and takes that back', async () => {
    const leaver = await service.join(admin);
    const task = await addTask(leaver);
    await addLog(leaver, task._id, 8);
    const path = `/api/employees/${leaver._id}/`;
    expect(got(await admin.delete(path))).toEqual({ success: true });
    expect(got(await admin.get(`/employee/me/${leaver._id}/`))).toMatchObject({
      isDeleted: true,
      isActive: false,
      is_active: false,
    });
    expect(got(await admin.get(`/api/tasks/${task._id}/`)).owner_id).toBe(leaver._id);
    expect(got(await admin.get(`/taskLogs/task/${task._id}/`)).totalSeconds).toBe(3600);
    expect(got(await admin.post(`${path}restore/`))).toMatchObject({
      _id: leaver._id,
      isDeleted: false,
      isActive: true,
    });
    expect(got(await service.codeLogin(leaver.email)).employee._id).toBe(leaver._id);
  });

  test('is of one’s own company', async () => {
    expect(said(await neighbour.delete(`/api/employees/${member._id}/`))).toBe('404 NOT_FOUND');
    expect(said(await neighbour.post(`/api/employees/${member._id}/restore/`))).toBe('404 NOT_FOUND');
    expect(said(await neighbour.post(`/api/employees/${member._id}/erase/`))).toBe('404 NOT_FOUND');
  });

  test('erases a person for good, and loses nothing of their work', async () => {
    const leaver = await service.join(admin);
    const task = await addTask(leaver);
    const path = `/api/employees/${leaver._id}/`;
    expect(said(await member.post(`${path}erase/`))).toBe('403 ADMIN_REQUIRED');
    const erased = got(await admin.post(`${path}erase/`));
    expect(erased).toMatchObject({
      _id: leaver._id,
      name: `Former employee ${leaver._id}`,
      isDeleted: true,
      phone: null,
    });
    expect(got(await admin.post(`${path}erase/`))).toEqual(erased);
    expect(said(await admin.post(`${path}restore/`))).toBe('409 EMPLOYEE_ERASED');
    expect(got(await admin.get(`/api/tasks/${task._id}/`)).owner_id).toBe(leaver._id);
    expect(said(await leaver.get(`/api/tasks/${task._id}/`))).toBe('401 SESSION_ENDED');
  });
});

describe('contract 5, closing a company', () => {
  test('leaves it to be read until its owner reopens it', async () => {
    const owner = await service.register();
    const path = `/api/company/${owner.companyId}/`;
    const details = `/company/${owner.companyId}/details/`;
    const { name } = got(await owner.get(details)).company;
    expect(said(await neighbour.post(`${path}close/`, { name }))).toBe('404 NOT_FOUND');
    expect(said(await owner.post(`${path}close/`, { name: `${name}!` }))).toBe(
      '400 VALIDATION_FAILED name:invalid_value',
    );
    const { closesAt } = got(await owner.post(`${path}close/`, { name }));
    expect(got(await owner.get(details)).closesAt).toBe(closesAt);
    expect(said(await owner.post('/api/projects/', { name: 'New' }))).toBe('409 COMPANY_CLOSED');
    expect(got(await owner.post(`${path}reopen/`)).company_id).toBe(owner.companyId);
    expect(got(await owner.get(details)).closesAt).toBeNull();
    expect(got(await owner.post('/api/projects/', { name: 'New' })).name).toBe('New');
  });
});

describe('contract 5, timers', () => {
  test('run once for each employee, and become a log that is no manual one', async () => {
    const [worker, task] = [await service.join(admin), await addTask(admin)];
    const look = async () => got(await worker.get(`/api/tasklogs/timer/${worker._id}/`));
    expect(await look()).toEqual({ timer: null });
    const timer = got(await worker.post('/api/tasklogs/timer/start/', { taskId: task._id, description: 'Gears' }));
    expect(timer).toEqual({
      taskId: task._id,
      userId: worker._id,
      startTime: expect.stringMatching(/Z$/),
      description: 'Gears',
    });
    expect(await look()).toEqual(timer);
    expect(said(await worker.post('/api/tasklogs/timer/start/', { taskId: task._id }))).toBe('409 TIMER_RUNNING');
    const log = got(await worker.post('/api/tasklogs/timer/stop/', { description: 'Gears, done' }));
    expect(log).toMatchObject({
      taskId: task._id,
      userId: worker._id,
      startTime: timer.startTime,
      manualAdd: false,
      description: 'Gears, done',
    });
    expect(await look()).toEqual({ timer: null });
    expect(said(await worker.post('/api/tasklogs/timer/stop/', {}))).toMatch(/^409 /);
  });

  test('are on tasks of the company', async () => {
    expect(said(await admin.post('/api/tasklogs/timer/start/', { taskId: theirs._id }))).toBe(
      '400 VALIDATION_FAILED taskId:not_found',
    );
    expect(said(await neighbour.get(`/api/tasklogs/timer/${admin._id}/`))).toBe('404 NOT_FOUND');
  });
});

describe('contract 5, timesheets', async () => {
  const boss = await service.register({ first_name: 'Zoë', last_name: 'Comma, "quoted"' });
  got(await boss.put(`/company/${boss.companyId}/update/`, { timezone: 'UTC' }));
  const worker = await service.join(boss);
  const task = await addTask(boss);
  await addLog(boss, task._id, 8);
  await addLog(worker, task._id, 8);
  await addLog(worker, task._id, 9);
  const path = `/api/timesheets/${boss.companyId}/?from=2026-03-01&to=2026-03-31`;

  test.each(['day', 'week', 'project', 'task', 'employee'])('are grouped by %s, with their total', async (groupBy) => {
    const body = got(await boss.get(`${path}&groupBy=${groupBy}`));
    expect(body).toMatchObject({ from: '2026-03-01', to: '2026-03-31', groupBy, totalSeconds: 3 * 3600 });
    const sum = body.rows.reduce((total: number, row: { seconds: number }) => total + row.seconds, 0);
    expect([sum, body.rows.length > 0]).toEqual([3 * 3600, true]);
  });

  test('are narrowed by userId and projectId', async () => {
    expect(got(await boss.get(`${path}&userId=${worker._id}`)).totalSeconds).toBe(2 * 3600);
    expect(got(await boss.get(`${path}&projectId=${task.projectId}`)).totalSeconds).toBe(3 * 3600);
    expect(said(await boss.get(`${path}&projectId=${theirs.projectId}`))).toBe(
      '400 VALIDATION_FAILED projectId:not_found',
    );
  });

  test('are the same as a CSV download', async () => {
    const answer = await boss.get(`${path}&groupBy=employee&format=csv`);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, expect.stringMatching(/^text\/csv/)]);
    expect(answer.headers.get('content-disposition')).toMatch(/^attachment; filename=/);
    const [head, ...rows] = parse(answer.text, { bom: true });
    expect(head!.length).toBeGreaterThan(1);
    expect(rows.flat()).toContain('Zoë Comma, "quoted"');
  });

  test.each([
    ['xlsx', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', 'PK'],
    ['pdf', 'application/pdf', '%PDF-'],
  ])('are a %s to download', async (format, mediaType, magic) => {
    const answer = await boss.get(`${path}&groupBy=project&format=${format}`);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, mediaType]);
    expect(answer.headers.get('content-disposition')).toMatch(new RegExp(`^attachment; filename="[^"]+\\.${format}"$`));
    expect(answer.text.startsWith(magic)).toBe(true);
  });

  test('ask for from and to, and refuse other groups and formats', async () => {
    const at = `/api/timesheets/${boss.companyId}/`;
    expect(said(await boss.get(at))).toBe('400 VALIDATION_FAILED from:required to:required');
    expect(said(await boss.get(`${path}&groupBy=year`))).toBe('400 VALIDATION_FAILED groupBy:invalid_value');
    expect(said(await boss.get(`${path}&format=xml`))).toBe('400 VALIDATION_FAILED format:invalid_value');
  });
});
