import { describe, expect, test } from 'vitest';
import { errorOf, type Caller } from '../../support/actor.ts';
import { callerWithKey } from '../../support/api-key.ts';
import { startService } from '../../support/service.ts';

const service = await startService();
const admin = await service.registerCompany();
const employee = await service.addEmployee(admin);

const withKey = (key: string): Caller => callerWithKey(service.url, key);

async function makeKey(scopes: string[], by = admin, more: object = {}): Promise<{ _id: number; key: string }> {
  const { status, body } = await by.post('/api/api-keys/', { name: 'Script', scopes, ...more });
  expect(status).toBe(200);
  return body;
}

describe('an API key', () => {
  test('is shown once, listed without itself, and stored nowhere as it is', async () => {
    const made = await makeKey(['read'], employee);
    expect(made.key).toMatch(/^wms_[\w-]{49}$/);
    const listed = await employee.get('/api/api-keys/');
    expect(listed.body.keys).toEqual([
      expect.objectContaining({ _id: made._id, name: 'Script', scopes: ['read'], start: made.key.slice(0, 10) }),
    ]);
    expect(JSON.stringify(listed.body)).not.toContain(made.key);
    const rows = await service.database.db
      .selectFrom('api_keys')
      .where('company_id', '=', admin.companyId)
      .selectAll()
      .execute();
    expect(JSON.stringify(rows)).not.toContain(made.key);
    expect(service.log()).not.toContain(made.key);
  });

  test('says when it was used last, to the minute', async () => {
    const made = await makeKey(['read']);
    const lastUse = async (): Promise<string | null> => {
      const { body } = await admin.get('/api/api-keys/');
      return body.keys.find((key: { _id: number }) => key._id === made._id).lastUsedAt;
    };
    const use = async () => {
      expect((await withKey(made.key).get(`/employee/list/${admin.companyId}/`)).status).toBe(200);
      await service.drain();
    };
    expect(await lastUse()).toBeNull();
    await use();
    const first = await lastUse();
    expect(first).not.toBeNull();
    await use();
    expect(await lastUse()).toBe(first);
    service.clock.advance({ minutes: 2 });
    await use();
    expect(Date.parse((await lastUse())!) - Date.parse(first!)).toBeGreaterThan(60_000);
  });

  test('acts as its employee, within its scopes', async () => {
    const reader = withKey((await makeKey(['read'])).key);
    const writer = withKey((await makeKey(['write'])).key);
    expect((await reader.get(`/employee/list/${admin.companyId}/`)).status).toBe(200);
    expect(errorOf(await writer.get(`/employee/list/${admin.companyId}/`))).toEqual({
      status: 403,
      code: 'SCOPE_REQUIRED',
    });
    const project = { name: 'By script' };
    expect(errorOf(await reader.post('/api/projects/', project))).toEqual({ status: 403, code: 'SCOPE_REQUIRED' });
    expect((await writer.post('/api/projects/', project)).body).toMatchObject({
      name: 'By script',
      owner_id: admin.employeeId,
    });
  });

  test('does not manage sessions, keys or passwords', async () => {
    const key = withKey((await makeKey(['read', 'write'])).key);
    expect(errorOf(await key.get('/api/sessions/'))).toEqual({ status: 403, code: 'SESSION_REQUIRED' });
    expect(errorOf(await key.post('/logout/'))).toEqual({ status: 403, code: 'SESSION_REQUIRED' });
    expect(errorOf(await key.post('/api/api-keys/', { name: 'More', scopes: ['read'] }))).toEqual({
      status: 403,
      code: 'SESSION_REQUIRED',
    });
  });

  test('ends when it is revoked, expires, or its employee goes', async () => {
    const path = `/employee/list/${admin.companyId}/`;
    const revoked = await makeKey(['read']);
    expect((await admin.delete(`/api/api-keys/${revoked._id}/`)).body).toEqual({ success: true });
    expect(errorOf(await withKey(revoked.key).get(path))).toEqual({ status: 401, code: 'INVALID_TOKEN' });
    expect(errorOf(await admin.delete(`/api/api-keys/${revoked._id}/`))).toEqual({ status: 404, code: 'NOT_FOUND' });

    const short = await makeKey(['read'], admin, {
      expiresAt: new Date(service.clock.now().getTime() + 60_000).toISOString(),
    });
    expect((await withKey(short.key).get(path)).status).toBe(200);
    service.clock.advance({ seconds: 61 });
    expect(errorOf(await withKey(short.key).get(path))).toEqual({ status: 401, code: 'INVALID_TOKEN' });

    const leaver = await service.addEmployee(admin);
    const theirs = await makeKey(['read'], leaver);
    await admin.patch(`/api/employees/${leaver.employeeId}/`, { is_active: false });
    expect(errorOf(await withKey(theirs.key).get(path))).toEqual({ status: 401, code: 'INVALID_TOKEN' });
    await admin.patch(`/api/employees/${leaver.employeeId}/`, { is_active: true });
    expect(errorOf(await withKey(theirs.key).get(path))).toEqual({ status: 401, code: 'INVALID_TOKEN' });
  });

  test("is nobody else's to revoke but an admin's of the company", async () => {
    const mine = await makeKey(['read'], admin);
    const theirs = await makeKey(['read'], employee);
    const outsider = await service.registerCompany();
    expect(errorOf(await employee.delete(`/api/api-keys/${mine._id}/`))).toEqual({ status: 404, code: 'NOT_FOUND' });
    expect(errorOf(await outsider.delete(`/api/api-keys/${mine._id}/`))).toEqual({ status: 404, code: 'NOT_FOUND' });
    expect((await admin.delete(`/api/api-keys/${theirs._id}/`)).status).toBe(200);
    expect((await withKey(mine.key).get(`/employee/list/${admin.companyId}/`)).status).toBe(200);
  });

  test('with the scope login is made by admins only; past dates and unknown scopes are named', async () => {
    expect(errorOf(await employee.post('/api/api-keys/', { name: 'SSO', scopes: ['login'] }))).toEqual({
      status: 403,
      code: 'ADMIN_REQUIRED',
    });
    expect(errorOf(await admin.post('/api/api-keys/', { name: 'x', scopes: ['time:delete'] }))).toMatchObject({
      status: 400,
      issues: ['scopes.0'],
    });
    expect(
      errorOf(await admin.post('/api/api-keys/', { name: 'x', scopes: ['read'], expiresAt: '2020-01-01T00:00:00Z' })),
    ).toMatchObject({ status: 400, issues: ['expiresAt'] });
  });
});
