import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { errorOf } from '../../support/actor.ts';
import { callerWithKey, makeKey } from '../../support/api-key.ts';
import { startService } from '../../support/service.ts';
import { startWork } from '../../support/work.ts';

/* What the scopes of a key mean together with the rights of its maker. test/contract/scopes.test.ts tries every operation. */

const service = await startService();
const admin = await service.registerCompany();
const employee = await service.addEmployee(admin);
const { taskId } = await startWork(admin);
const day = '2026-03-02';
const log = (employeeId: number, hour: number) => ({
  task_id: taskId,
  employee_id: employeeId,
  start_time: `${day}T0${hour}:00:00Z`,
  end_time: `${day}T0${hour}:30:00Z`,
});

const refusal = (missing: string[]) => ({ code: 'SCOPE_REQUIRED', missingScopes: missing });

describe('a key of single areas', () => {
  test('does what a timer widget does, and reads neither people nor comments', async () => {
    const widget = await makeKey(service, employee, ['time:read', 'time:write', 'tasks:read']);
    expect((await widget.get(`/api/tasks/company/${admin.companyId}/`)).body.results).toHaveLength(1);
    expect((await widget.post('/api/tasklogs/timer/start/', { taskId })).status).toBe(200);
    expect((await widget.post('/api/tasklogs/timer/stop/', {})).status).toBe(200);
    expect((await widget.get(`/employee/list/${admin.companyId}/`)).body).toMatchObject(refusal(['people:read']));
    expect((await widget.get(`/api/tasks/chat/${taskId}/`)).body).toMatchObject(refusal(['comments:read']));
    expect((await widget.post('/api/tasks/', { projectId: 1, title: 'x' })).body).toMatchObject(
      refusal(['tasks:write']),
    );
  });

  test('is told in words and in a list what it lacks, over REST and tRPC alike', async () => {
    const key = await makeKey(service, admin, ['time:read']);
    const headers = { authorization: `Bearer ${key.key}` };
    const rest = await key.put(`/api/rates/${admin.companyId}/`, {});
    expect(rest.body).toMatchObject({
      status: 403,
      detail: 'This needs an API key with the scopes time:write and admin, or write; this key has time:read.',
      missingScopes: ['time:write', 'admin'],
    });
    const { body } = await service.anonymous.post('/trpc/rates.set', {}, { headers });
    expect(body.error.data).toMatchObject({ httpStatus: 403, ...refusal(['time:write', 'admin']) });
    const file = await key.get(`/api/audit/company/${admin.companyId}/export/?format=csv`);
    expect(file.body).toMatchObject({ ...refusal(['read']), detail: expect.stringContaining('the scope read;') });
    const sheet = await key.get(`/api/timesheets/${admin.companyId}/?from=${day}&to=${day}&format=csv`);
    expect(sheet.status).toBe(200);
  });
});

describe('a key of an admin without the scope admin', () => {
  test('acts as an employee who is no admin', async () => {
    const plain = await makeKey(service, admin, ['time:write', 'people:write', 'people:read']);
    expect(errorOf(await plain.post('/tasklog/create/', log(employee.employeeId, 1)))).toMatchObject({ status: 403 });
    expect((await plain.post('/tasklog/create/', log(admin.employeeId, 1))).status).toBe(200);
    const path = `/api/employees/${employee.employeeId}/`;
    await admin.patch(path, { salary: 5000 });
    // What it lacks is no role, so it is told the scope.
    for (const change of [{ isAdmin: true }, { email: 'mine@example.com' }, { salary: 1 }])
      expect((await plain.patch(path, change)).body).toMatchObject(refusal(['admin']));
    expect((await plain.patch(`/api/employees/${admin.employeeId}/`, { phone: '1' })).status).toBe(200);
    expect((await plain.get(`/employee/me/${employee.employeeId}/`)).body.salary).toBeNull();
    expect((await plain.delete(path)).body).toMatchObject(refusal(['admin']));
    const { body } = await admin.get(`/employee/me/${employee.employeeId}/`);
    expect(body).toMatchObject({ isAdmin: false, email: employee.email, salary: 5000, isDeleted: false });
  });

  test('with it has the rights of one in its areas, and in no other', async () => {
    const payroll = await makeKey(service, admin, ['time:read', 'people:read', 'admin']);
    expect((await payroll.get(`/api/rates/${admin.companyId}/`)).status).toBe(200);
    expect((await payroll.get(`/employee/me/${employee.employeeId}/`)).body.salary).toBe(5000);
    expect((await payroll.delete(`/api/employees/${employee.employeeId}/`)).body).toMatchObject(
      refusal(['people:write']),
    );
    expect((await payroll.post('/api/exports/', {})).body).toMatchObject(refusal(['write']));
    const writer = await makeKey(service, admin, ['time:write', 'admin']);
    expect((await writer.post('/tasklog/create/', log(employee.employeeId, 2))).status).toBe(200);
  });

  test('keeps what read and write of before give', async () => {
    const reader = await makeKey(service, admin, ['read', 'tasks:write']);
    expect((await reader.get(`/employee/me/${employee.employeeId}/`)).body.salary).toBe(5000);
    expect((await reader.get(`/api/rates/${admin.companyId}/`)).status).toBe(200);
    expect((await reader.post('/api/webhooks/', {})).body).toMatchObject(refusal(['write']));
    const writer = await makeKey(service, admin, ['write']);
    expect((await writer.patch(`/api/employees/${employee.employeeId}/`, { salary: 5001 })).status).toBe(200);
    expect((await writer.get('/api/projects/1/')).body).toMatchObject(refusal(['projects:read']));
  });
});

describe('the scopes admin and login', () => {
  test('are given by admins only, the others by anybody', async () => {
    for (const scope of ['admin', 'login'])
      expect(errorOf(await employee.post('/api/api-keys/', { name: 'x', scopes: ['read', scope] }))).toEqual({
        status: 403,
        code: 'ADMIN_REQUIRED',
      });
    const key = await makeKey(service, employee, ['people:write', 'people:read']);
    expect(errorOf(await key.patch(`/api/employees/${admin.employeeId}/`, { salary: 1 }))).toEqual({
      status: 403,
      code: 'ADMIN_REQUIRED',
    });
  });

  test('give nothing more when their maker is no admin any more', async () => {
    const second = await service.addEmployee(admin);
    await admin.patch(`/api/employees/${second.employeeId}/`, { isAdmin: true });
    const key = await makeKey(service, await service.signIn(second.email), ['time:read', 'people:read', 'admin']);
    expect((await key.get(`/api/rates/${admin.companyId}/`)).status).toBe(200);
    await admin.patch(`/api/employees/${second.employeeId}/`, { isAdmin: false });
    expect(errorOf(await key.get(`/api/rates/${admin.companyId}/`))).toEqual({ status: 403, code: 'ADMIN_REQUIRED' });
    expect((await key.get(`/employee/me/${employee.employeeId}/`)).body.salary).toBeNull();
    expect((await key.get('/api/api-keys/current/')).body.employee.isAdmin).toBe(false);
  });
});

test('a key is never more than the one that it was made with: none makes keys, sessions or webhooks of its own', async () => {
  const every = ['time', 'tasks', 'projects', 'comments', 'notifications', 'people', 'company'];
  const key = await makeKey(service, admin, [...every.flatMap((area) => [`${area}:read`, `${area}:write`]), 'admin']);
  const hook = { url: 'https://hooks.example.com/work', events: ['comment.created'] };
  expect((await key.post('/api/webhooks/', hook)).body).toMatchObject(refusal(['write']));
  expect((await key.post('/api/exports/', {})).body).toMatchObject(refusal(['write']));
  expect((await key.get(`/api/audit/company/${admin.companyId}/`)).body).toMatchObject(refusal(['read']));
  for (const [method, path] of [
    ['POST', '/api/api-keys/'],
    ['GET', '/api/sessions/'],
    ['POST', `/api/employees/${employee.employeeId}/erase/`],
    ['GET', `/api/employees/${employee.employeeId}/access/`],
    ['POST', `/api/company/${admin.companyId}/close/`],
  ])
    expect(errorOf(await key.send(method!, path!))).toEqual({ status: 403, code: 'SESSION_REQUIRED' });
  const login = { email: employee.email, company_id: admin.companyId };
  expect((await key.post('/token-login/', login)).body).toMatchObject(refusal(['login']));
});

describe('who a key is', () => {
  test('is told with any scope: the key, its employee and their company', async () => {
    for (const scope of ['comments:write', 'login']) {
      const key = await makeKey(service, admin, [scope], { name: 'Who', expiresAt: '2036-01-01T00:00:00Z' });
      // The first use is recorded behind its answer, and the next ones within a minute are not.
      const answers = [await key.get('/api/api-keys/current/')];
      await service.drain();
      for (let reading = 0; reading < 5; reading += 1) answers.push(await key.get('/api/api-keys/current/'));
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
      for (const { body } of answers.slice(2)) expect(body).toEqual(answers[1]!.body);
      expect(answers[1]!.body).toEqual({
        key: {
          _id: key._id,
          name: 'Who',
          start: key.key.slice(0, 10),
          scopes: [scope],
          expiresAt: '2036-01-01T00:00:00.000Z',
          lastUsedAt: expect.any(String),
          createdAt: expect.any(String),
          client: null,
        },
        employee: {
          _id: admin.employeeId,
          name: admin.name,
          email: admin.email,
          isAdmin: true,
          isTeamLeader: false,
        },
        company: { company_id: admin.companyId, name: 'Analytical Engines', timezone: 'UTC', closesAt: null },
      });
      expect(JSON.stringify(answers)).not.toContain(key.key);
    }
  });

  test('also in a company that is closed', async () => {
    const owner = await service.registerCompany({ name: 'Closing' });
    const key = await makeKey(service, owner, ['time:read']);
    const closed = await owner.post(`/api/company/${owner.companyId}/close/`, { name: 'Closing' });
    expect(closed.status).toBe(200);
    expect((await key.get('/api/api-keys/current/')).body.company).toMatchObject({ closesAt: closed.body.closesAt });
  });

  test('is nothing that a session has: it is told where to look instead', async () => {
    const answer = await admin.get('/api/api-keys/current/');
    expect(errorOf(answer)).toEqual({ status: 403, code: 'FORBIDDEN' });
    expect(answer.body.detail).toContain('/employee/me/{employee_id}/');
    const { key } = await makeKey(service, admin, ['login']);
    const login = { email: employee.email, company_id: admin.companyId };
    const { body } = await service.anonymous.post('/token-login/', login, {
      headers: { authorization: `Bearer ${key}` },
    });
    expect(errorOf(await service.as(body).get('/api/api-keys/current/'))).toEqual({ status: 403, code: 'FORBIDDEN' });
  });
});

test('a key ends with a checksum of what is before it; one without, from before, stays good', async () => {
  const { key, _id } = await makeKey(service, admin, ['time:read']);
  expect(key).toMatch(/^wms_[A-Za-z0-9_-]{43}[A-Za-z0-9_-]{6}$/);
  const checksum = Buffer.from(key.slice(-6), 'base64url').readUInt32BE();
  expect(checksum).toBe(crc32(key.slice(0, -6)));
  const old = `wms_${'k'.repeat(43)}`;
  await service.database.db
    .updateTable('api_keys')
    .set({ key_hash: createHash('sha256').update(old).digest('base64url') })
    .where('company_id', '=', admin.companyId)
    .where('api_key_id', '=', _id)
    .execute();
  expect((await callerWithKey(service.url, old).get('/api/api-keys/current/')).status).toBe(200);
  expect(errorOf(await callerWithKey(service.url, key).get('/api/api-keys/current/'))).toMatchObject({ status: 401 });
});
