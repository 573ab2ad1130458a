import { request } from 'node:http';
import { describe, expect, test } from 'vitest';
import { got, said } from '../caller.ts';
import { proofOf } from '../people.ts';
import { rows } from '../rows.ts';
import { service } from '../running.ts';
import { addComment, addLog, addProject, addTask, entryAt, hourAt } from '../work.ts';

/* Contract 1: what comes in. Limits on how much there may be of it are in limits.ts. */

const { anonymous, url } = service;
const admin = await service.register();
const project = await addProject(admin);
const task = await addTask(admin, { projectId: project._id });

const person = (email = service.newEmail()) => ({
  first_name: 'Joan',
  last_name: 'Clarke',
  email,
  companyId: admin.companyId,
});

/** Sends a POST byte by byte as it is given, with no header but those. */
async function post(path: string, headers: Record<string, string>, body?: Buffer) {
  return new Promise<{ status: number; text: string }>((resolve, reject) => {
    const sent = request(`${url}${path}`, { method: 'POST', headers: { ...proofOf(admin), ...headers } }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('end', () => resolve({ status: answer.statusCode!, text: Buffer.concat(chunks).toString() }));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

describe('contract 1, bodies', () => {
  test('are JSON: what is none is 400 MALFORMED_JSON', async () => {
    for (const text of ['{', 'name=x', "{'name': 1}", '{"name": "x"}}'])
      expect(said(await admin.post('/api/projects/', text))).toBe('400 MALFORMED_JSON');
  });

  test('hold valid UTF-8: bytes that are not are 400 MALFORMED_JSON, and nothing of them is stored', async () => {
    const { total } = got(await admin.get(`/api/projects/company/${admin.companyId}/`));
    const headers = { 'content-type': 'application/json' };
    for (const bytes of [[0xff], [0xc3, 0x28], [0xed, 0xa0, 0x80]]) {
      const body = Buffer.concat([Buffer.from('{"name":"'), Buffer.from(bytes), Buffer.from('"}')]);
      const { status, text } = await post('/api/projects/', headers, body);
      expect([status, JSON.parse(text).code]).toEqual([400, 'MALFORMED_JSON']);
    }
    expect(got(await admin.get(`/api/projects/company/${admin.companyId}/`)).total).toBe(total);
  });

  test('in another charset are 415', async () => {
    for (const type of ['application/json; charset=iso-8859-1', 'application/json; charset=utf-16'])
      expect(said(await admin.post('/api/projects/', '{"name":"x"}', { 'content-type': type }))).toBe(
        '415 UNSUPPORTED_MEDIA_TYPE',
      );
  });

  test('with charset=utf-8 are taken', async () => {
    const type = { 'content-type': 'application/json; charset=UTF-8' };
    expect(got(await admin.post('/api/projects/', '{"name":"Ünïcode 漢字 🚀"}', type)).name).toBe('Ünïcode 漢字 🚀');
  });

  test('with a Content-Encoding are 415', async () => {
    for (const encoding of ['gzip', 'br', 'deflate'])
      expect(said(await admin.post('/api/projects/', '{"name":"x"}', { 'content-encoding': encoding }))).toBe(
        '415 UNSUPPORTED_MEDIA_TYPE',
      );
  });

  test('of another media type are 415', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'])
      expect(said(await admin.post('/api/projects/', 'name=x', { 'content-type': type }))).toBe(
        '415 UNSUPPORTED_MEDIA_TYPE',
      );
  });

  test.each(rows.filter(({ method, body }) => method !== 'GET' && body.length === 0))(
    'of $method $path may be left out with their Content-Type, or be an empty object',
    async ({ method, path }) => {
      const asked = path.replaceAll(/\{\w+\}/g, '987654321');
      const answers = [await admin.send(method, asked), await admin.send(method, asked, {})];
      expect(answers.map(said)).toEqual([said(answers[0]!), said(answers[0]!)]);
      expect(said(answers[0]!)).toMatch(/^(200|404 NOT_FOUND)$/);
    },
  );

  test('that are documented as none may be empty with a JSON Content-Type', async () => {
    const type = { 'content-type': 'application/json' };
    expect(said(await admin.send('POST', `/mark_notifications_as_read/${admin._id}/`, '', type))).toBe('200');
  });

  test('may hold fields that an operation does not list: they are ignored, not stored, and set nothing', async () => {
    const extra = {
      _id: 1,
      isAdmin: true,
      isTeamLeader: true,
      isDeleted: true,
      is_active: false,
      nonsense: { a: [1] },
    };
    const added = got(await admin.post('/employee/add/', { ...person(), ...extra }));
    expect(added).toMatchObject({ isAdmin: false, isTeamLeader: false, isDeleted: false, isActive: true });
    expect(added._id).not.toBe(1);
    expect(added).not.toHaveProperty('nonsense');
    const updated = got(
      await admin.patch(`/api/employees/${added._id}/`, { phone: '1', isDeleted: true, companyId: 1 }),
    );
    expect(updated).toMatchObject({ phone: '1', isDeleted: false, companyId: admin.companyId });
  });

  test('of updates hold fields of other operations to no effect', async () => {
    const log = await addLog(admin, task._id, 1);
    const changed = got(
      await admin.put(`/tasklogs/${log._id}/`, { task_id: 1, employee_id: 1, manualAdd: !log.manualAdd }),
    );
    expect(changed).toEqual(log);
    const company = `/company/${admin.companyId}/update/`;
    expect(got(await admin.put(company, { company_id: 1, owner_id: 1 }))).toMatchObject({
      company_id: admin.companyId,
      owner_id: admin._id,
    });
  });
});

describe('contract 1, identifiers', () => {
  test('are positive integers in paths', async () => {
    for (const id of ['0', '-1', '1.5', 'abc', '1e2', '0x10', '9007199254740992'])
      expect(said(await admin.get(`/employee/me/${id}/`))).toMatch(/^400 VALIDATION_FAILED employee_id:/);
  });

  test('are taken up to 2^53-1 in paths', async () => {
    expect(said(await admin.get('/employee/me/9007199254740991/'))).toBe('404 NOT_FOUND');
  });

  test('are positive integers in bodies, up to 2^53-1', async () => {
    for (const id of ['0', '-1', '1.5', '"1"', '9007199254740992', 'true'])
      expect(said(await admin.post('/api/tasks/', `{"title":"x","projectId":${id}}`))).toMatch(
        /^400 VALIDATION_FAILED projectId:(too_small|too_big|invalid_type)$/,
      );
    expect(said(await admin.post('/api/tasks/', '{"title":"x","projectId":9007199254740991}'))).toBe(
      '400 VALIDATION_FAILED projectId:not_found',
    );
  });

  test('are positive integers in answers', async () => {
    for (const id of [admin._id, admin.companyId, project._id, task._id]) {
      expect(Number.isSafeInteger(id)).toBe(true);
      expect(id).toBeGreaterThan(0);
    }
  });
});

describe('contract 1, timestamps', () => {
  test.each([
    ['with Z', '2026-01-05T08:00:00Z', '2026-01-05T08:00:00.000Z'],
    ['with t and z in lower case', '2026-01-05t09:00:00z', '2026-01-05T09:00:00.000Z'],
    ['with an offset to the east', '2026-01-05T10:30:00+05:30', '2026-01-05T05:00:00.000Z'],
    ['with an offset to the west', '2026-01-05T23:00:00-09:30', '2026-01-06T08:30:00.000Z'],
    ['with the offset -00:00', '2026-01-05T11:00:00-00:00', '2026-01-05T11:00:00.000Z'],
    ['with a fraction', '2026-01-05T12:00:00.5Z', '2026-01-05T12:00:00.500Z'],
    // The two examples of RFC 3339 itself.
    ['with a leap second', '1990-12-31T23:59:60Z', '1991-01-01T00:00:00.000Z'],
    ['with a leap second elsewhere', '1995-06-30T15:59:60.5-08:00', '1995-07-01T00:00:00.500Z'],
    ['with microseconds', '2026-01-05T13:00:00.123456Z', '2026-01-05T13:00:00.123Z'],
  ])('are taken %s, and answered in UTC with milliseconds and Z', async (_how, sent, answered) => {
    const end = new Date(Date.parse(answered) + 60_000).toISOString();
    const log = { task_id: task._id, employee_id: admin._id, start_time: sent, end_time: end };
    expect(got(await admin.post('/tasklog/create/', log)).startTime).toBe(answered);
  });

  test.each([
    '2026-01-05',
    '2026-01-05T08:00:00',
    'yesterday',
    '2026-02-30T08:00:00Z',
    '2026-01-05T25:00:00Z',
    '2026-01-05T08:00:60Z',
    '2026-01-05T23:59:61Z',
    '1767600000',
  ])('are refused as %s', async (start) => {
    const log = { task_id: task._id, employee_id: admin._id, start_time: start, end_time: '2026-01-06T00:00:00Z' };
    expect(said(await admin.post('/tasklog/create/', log))).toBe('400 VALIDATION_FAILED start_time:invalid_format');
  });

  test('of records are in UTC with milliseconds and Z', async () => {
    for (const { createdAt, updatedAt } of [project, task])
      for (const at of [createdAt, updatedAt]) expect(at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });
});

describe('contract 1, dates', () => {
  test('are YYYY-MM-DD, and the day exists', async () => {
    const path = `/api/employees/${admin._id}/`;
    for (const day of [
      '2026-02-29',
      '2026-13-01',
      '26-01-01',
      '2026/01/01',
      '01-01-2026',
      '2026-01-01T00:00:00Z',
      '',
    ]) {
      expect([day, said(await admin.patch(path, { date_of_birth: day }))]).toEqual([
        day,
        '400 VALIDATION_FAILED date_of_birth:invalid_format',
      ]);
    }
    expect(got(await admin.patch(path, { date_of_birth: '2000-02-29' })).date_of_birth).toBe('2000-02-29');
  });
});

describe('contract 1, numbers', () => {
  test.each([
    [10.005, 10.01],
    [1.005, 1.01],
    [2.675, 2.68],
    [1.004, 1],
    [0.994_999, 0.99],
    [1e-9, 0],
    [7, 7],
  ])('of hours and money are rounded half up to two decimals: %d becomes %d', async (sent, stored) => {
    const made = got(await admin.post('/api/projects/', { name: 'Rounded', allocatedHours: sent }));
    expect(made.allocatedHours).toBe(stored);
    expect(got(await admin.get(`/api/projects/${made._id}/`)).allocatedHours).toBe(stored);
    expect(got(await admin.patch(`/api/employees/${admin._id}/`, { salary: sent })).salary).toBe(stored);
  });

  test('are numbers, no text', async () => {
    expect(said(await admin.post('/employee/add/', { ...person(), salary: '100' }))).toBe(
      '400 VALIDATION_FAILED salary:invalid_type',
    );
  });
});

describe('contract 1, queries', () => {
  const list = `/notifications/recipient/${admin._id}/`;

  test('count an empty parameter as absent', async () => {
    const empty = '?app_type=&category=&priorty=&isArchive=&later=&read=&starred=&isMention=&page=';
    expect(got(await admin.get(`${list}${empty}`))).toEqual(got(await admin.get(list)));
  });

  test('take priority where the interface is misspelt', async () => {
    for (const name of ['priorty', 'priority']) {
      expect(said(await admin.get(`${list}?${name}=primary`))).toBe('200');
      expect(said(await admin.get(`${list}?${name}=nonsense`))).toBe(`400 VALIDATION_FAILED ${name}:invalid_value`);
    }
  });

  test.each([
    ['app_type', ['hr', 'task']],
    ['category', ['task', 'project', 'need_attention', 'message', 'notice']],
    ['priorty', ['primary', 'updates', 'others', 'activity']],
    ['isArchive', ['true', 'false']],
    ['later', ['true', 'false']],
    ['read', ['true', 'false']],
    ['starred', ['true', 'false']],
    ['isMention', ['true', 'false']],
  ])('refuse an unknown %s with a list of those that are allowed', async (name, allowed) => {
    const answer = await admin.get(`${list}?${name}=nonsense`);
    expect(said(answer)).toMatch(new RegExp(`^400 VALIDATION_FAILED ${name}:`));
    for (const value of allowed) expect(answer.body.issues[0].message).toContain(value);
  });

  test('refuse an unknown value of other enumerations with their list', async () => {
    const answer = await admin.get(`/api/tasks/company/${admin.companyId}/?status=nonsense`);
    expect(said(answer)).toBe('400 VALIDATION_FAILED status:invalid_value');
    for (const value of ['todo', 'in_progress', 'in_review', 'done']) expect(answer.body.detail).toContain(value);
  });
});

describe('contract 1, empty updates', async () => {
  const log = await addLog(admin, task._id, 3);
  const comment = await addComment(admin, task._id);
  const company = { name: 'Analytical Engines', company_id: admin.companyId };
  const updates: [string, string, object][] = [
    ['PATCH', `/api/employees/${admin._id}/`, { _id: admin._id }],
    ['PATCH', `/employee/update-picture/${admin._id}/`, { _id: admin._id, profilePicture: null }],
    ['PUT', `/tasklogs/${log._id}/`, log],
    ['PATCH', `/api/edit-task-chats/${comment._id}/`, { _id: comment._id, isEdited: false, editedAt: null }],
    ['PUT', `/company/${admin.companyId}/update/`, company],
    ['PATCH', `/api/projects/${project._id}/`, { _id: project._id, name: project.name, createdAt: project.createdAt }],
    ['PATCH', `/api/tasks/${task._id}/`, got(await admin.get(`/api/tasks/${task._id}/`))],
    ['PUT', `/api/notification-preferences/${admin._id}/`, { task: { inApp: true, email: expect.any(Boolean) } }],
  ];

  test.each(updates)(
    '%s %s with no field of its own changes nothing and answers the record',
    async (method, path, record) => {
      const first = got(await admin.send(method, path, {}));
      expect(first).toMatchObject(record);
      expect(got(await admin.send(method, path, { nonsense: 1 }))).toEqual(first);
    },
  );

  test.each(updates)('%s %s takes an object alone', async (method, path) => {
    for (const body of ['[]', '"x"', '7', 'null'])
      expect([body, said(await admin.send(method, path, body))]).toEqual([body, '400 VALIDATION_FAILED :invalid_type']);
  });
});

describe('contract 1, absent and null', () => {
  test('what is not known of a record is null, and its field is there', async () => {
    const added = got(await admin.post('/employee/add/', person()));
    for (const name of ['phone', 'designation', 'salary', 'date_of_birth', 'gender', 'country_code', 'profilePicture'])
      expect(added).toHaveProperty(name, null);
    const plain = await addTask(admin, { projectId: project._id });
    for (const name of ['description', 'dueDate', 'estimatedHours', 'completedAt'])
      expect(plain).toHaveProperty(name, null);
  });
});

describe('contract 1, bulk bodies', () => {
  test('are the array itself, and an issue names the entry', async () => {
    const path = `/tasklogs/bulk/create/${admin._id}/`;
    const good = entryAt(task._id, admin._id, 5);
    expect(said(await admin.post(path, [good, { ...good, startTime: 'x' }]))).toBe(
      '400 VALIDATION_FAILED 1.startTime:invalid_format',
    );
    expect(said(await admin.post(path, { entries: [good] }))).toMatch(/^400 VALIDATION_FAILED :invalid_type$/);
    expect(said(await anonymous.post(path, [good]))).toBe('401 UNAUTHENTICATED');
    expect(hourAt(5).start_time).toBe(good.startTime);
  });
});
