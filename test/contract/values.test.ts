import { describe, expect, test } from 'vitest';
import { errorOf } from '../support/actor.ts';
import { startService } from '../support/service.ts';
import { startWork } from '../support/work.ts';

/* How values are read, whatever operation takes them: contract section 1. */
const service = await startService();
const admin = await service.registerCompany();
const { projectId, taskId } = await startWork(admin);
const listPath = `/notifications/recipient/${admin.employeeId}/`;

describe('hours and money', () => {
  const rounded: [sent: string, stored: number][] = [
    ['1.005', 1.01],
    ['1.0049999', 1],
    ['0.285', 0.29],
    ['2.675', 2.68],
    ['8.5', 8.5],
    ['123456.785', 123456.79],
    ['123456.78499999999', 123456.78],
    ['0.004999999999', 0],
    ['1e-7', 0],
    ['1.5e2', 150],
    ['99999999.985', 99999999.99],
    ['0', 0],
    ['-0', 0],
  ];

  test.each(rounded)('%s are stored and answered as %d', async (sent, stored) => {
    const project = await admin.patch(`/api/projects/${projectId}/`, `{"allocatedHours":${sent}}`, {
      headers: { 'content-type': 'application/json' },
    });
    expect([project.status, project.body.allocatedHours]).toEqual([200, stored]);
    expect((await admin.get(`/api/projects/${projectId}/`)).body.allocatedHours).toBe(stored);
    const task = await admin.patch(`/api/tasks/${taskId}/`, { estimatedHours: Number(sent) });
    expect([task.status, task.body.estimatedHours]).toEqual([200, stored]);
    const employee = await admin.patch(`/api/employees/${admin.employeeId}/`, { salary: Number(sent) });
    expect([employee.status, employee.body.salary]).toEqual([200, stored]);
  });

  test.each([
    ['-0.001', 'too_small'],
    ['-1', 'too_small'],
    ['99999999.995', 'too_big'],
    ['1e21', 'too_big'],
    ['1e400', 'invalid_type'],
    ['"8"', 'invalid_type'],
  ])('%s is refused', async (sent, code) => {
    const answer = await admin.patch(`/api/projects/${projectId}/`, `{"allocatedHours":${sent}}`, {
      headers: { 'content-type': 'application/json' },
    });
    expect(errorOf(answer)).toEqual({ status: 400, code: 'VALIDATION_FAILED', issues: ['allocatedHours'] });
    expect(answer.body.issues[0].code).toBe(code);
  });
});

describe('moments', () => {
  const log = (start_time: string, end_time: string) =>
    admin.post('/tasklog/create/', { task_id: taskId, employee_id: admin.employeeId, start_time, end_time });

  test.each([
    ['2026-03-01t09:00:00z', '2026-03-01T09:00:00.000Z'],
    ['2026-03-02t09:00:00+05:45', '2026-03-02T03:15:00.000Z'],
    ['2026-03-03T00:30:00-11:30', '2026-03-03T12:00:00.000Z'],
    ['2026-03-04T23:59:59.123456789012z', '2026-03-04T23:59:59.123Z'],
    ['2026-03-05T09:00:00+23:59', '2026-03-04T09:01:00.000Z'],
  ])('%s is %s', async (sent, answered) => {
    const end = new Date(Date.parse(answered) + 3_600_000).toISOString();
    const { status, body } = await log(sent, end);
    expect([status, body.startTime]).toEqual([200, answered]);
  });

  test.each([
    '2026-03-01 09:00:00Z',
    '2026-03-01T09:00:00',
    '2026-02-30T09:00:00Z',
    '2026-03-01T24:00:00Z',
    '2026-03-01T09:60:00Z',
    '2026-03-01T09:00:00+24:00',
    '0001-01-01T00:00:00+10:00',
    '9999-12-31T23:59:59-01:00',
    1772355600000,
    '',
  ])('%s is none', async (sent) => {
    const answer = await log(sent as string, '2026-03-01T10:00:00Z');
    expect(errorOf(answer)).toEqual({ status: 400, code: 'VALIDATION_FAILED', issues: ['start_time'] });
  });
});

describe('a query', () => {
  test('whose parameters are empty has none', async () => {
    const all = (await admin.get(listPath)).body;
    const names = ['app_type', 'category', 'priorty', 'priority', 'isArchive', 'later', 'read', 'starred', 'isMention'];
    const answer = await admin.get(`${listPath}?${[...names, 'page'].map((name) => `${name}=`).join('&')}`);
    expect([answer.status, answer.body]).toEqual([200, all]);
    const tasks = await admin.get(`/api/tasks/company/${admin.companyId}/?projectId=&status=&owner_id=&q=&page=`);
    expect([tasks.status, tasks.body.total]).toEqual([200, 1]);
    const search = await admin.get(`/employees/search/${admin.companyId}/?q=`);
    expect([errorOf(search).issues, search.body.issues[0].code]).toEqual([['q'], 'required']);
  });

  test.each<[query: string, allowed: string]>([
    ['app_type=crm', 'hr, task'],
    ['category=x', 'task, project, need_attention, message, notice'],
    ['priorty=high', 'primary, updates, others, activity'],
    ['priority=high', 'primary, updates, others, activity'],
    ...['isArchive', 'later', 'read', 'starred', 'isMention'].flatMap((name): [string, string][] => [
      [`${name}=yes`, 'true, false'],
      [`${name}=1`, 'true, false'],
    ]),
  ])('with %s is refused, and told %s', async (query, allowed) => {
    const answer = await admin.get(`${listPath}?${query}`);
    expect(errorOf(answer)).toEqual({ status: 400, code: 'VALIDATION_FAILED', issues: [query.split('=')[0]] });
    expect(answer.body.issues[0].message).toContain(allowed);
    expect(answer.body.detail).toContain(allowed);
  });

  test('is read without regard to case where it says app_type or a flag', async () => {
    for (const query of ['app_type=HR', 'app_type=Task', 'read=TRUE', 'starred=False'])
      expect([query, (await admin.get(`${listPath}?${query}`)).status]).toEqual([query, 200]);
  });

  test.each([
    `${listPath}?page=`,
    `${listPath}?read=false&page=`,
    `/api/projects/company/${admin.companyId}/?page=`,
    `/api/tasks/company/${admin.companyId}/?page=`,
    `/api/tasks/company/${admin.companyId}/?q=crank&page=`,
  ])('of any page up to 2^53-1 is answered, past the end with none: %s', async (path) => {
    const { total } = (await admin.get(`${path}1`)).body;
    for (const page of [101, 1_000_000, 1_000_001, 2 ** 31, Number.MAX_SAFE_INTEGER]) {
      const { status, body } = await admin.get(`${path}${page}`);
      expect([status, body.results, body.page, body.total]).toEqual([200, [], page, total]);
    }
    for (const page of ['0', '-1', '9007199254740992', '1e3', '1.0', ' 1'])
      expect(errorOf(await admin.get(path + encodeURIComponent(page)))).toMatchObject({
        status: 400,
        issues: ['page'],
      });
  });
});

describe('a value of the wrong type', () => {
  const chat = (values: Record<string, unknown>) =>
    admin.post('/api/task-chats/', { taskId, sender: admin.employeeId, message: 'Hi', ...values });
  test.each([
    ['a text for a list', () => chat({ mentionedEmails: 'a-long-address@example.com' }), 'mentionedEmails', 'array'],
    [
      'a list for a text',
      () => admin.patch(`/api/tasks/${taskId}/`, { title: Array(301).fill('x') }),
      'title',
      'string',
    ],
  ])('is told as that alone: %s', async (_what, send, field, type) => {
    const answer = await send();
    expect(answer.body.issues).toEqual([{ path: [field], message: `must be of type ${type}`, code: 'invalid_type' }]);
  });
});

test('a far page has the rows that are on it', async () => {
  const { companyId, employeeId } = admin;
  const now = service.clock.now();
  const rows = Array.from({ length: 2_020 }, (_, index) => ({
    company_id: companyId,
    name: `Project ${index}`,
    owner_id: employeeId,
    status: 'archived',
    created_at: now,
    updated_at: now,
  }));
  await service.database.db.insertInto('projects').values(rows).execute();
  await service.database.db
    .updateTable('company_counts')
    .set((eb) => ({ count: eb('count', '+', 2_020) }))
    .where('company_id', '=', companyId)
    .where('kind', '=', 'project')
    .execute();
  const { body } = await admin.get(`/api/projects/company/${companyId}/?page=102`);
  expect(body.results.length).toBeGreaterThan(0);
});
