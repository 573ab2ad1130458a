import { describe, expect, test } from 'vitest';
import { errorOf, type Actor } from '../../support/actor.ts';
import { startService } from '../../support/service.ts';

const service = await startService();
const { anonymous } = service;
const admin = await service.registerCompany({ name: 'Engines' });
const neighbour = await service.registerCompany({ name: 'Looms' });
const pathOf = (person: Actor, what: string) => `/api/employees/${person.employeeId}/${what}/`;
const withKey = (key: string) => ({ headers: { authorization: `Bearer ${key}` } });
const projects = `/api/projects/company/${admin.companyId}/`;
const makeKey = async (by: Actor, scopes = ['read', 'write']): Promise<{ key: string; start: string }> =>
  (await by.post('/api/api-keys/', { name: 'Import', scopes })).body;

describe('an admin', () => {
  test('sees the live sessions and API keys of an employee, and no secret', async () => {
    const grace = await service.addEmployee(admin);
    const second = await service.signIn(grace.email, admin.companyId);
    await second.post('/logout/');
    const { key, start } = await makeKey(grace);
    const { status, body } = await admin.get(pathOf(grace, 'access'));
    expect(status).toBe(200);
    expect(body).toEqual({
      sessions: [
        {
          _id: expect.any(Number),
          method: 'password',
          device: 'node',
          network: '127.0.0.1',
          createdAt: expect.any(String),
          lastUsedAt: expect.any(String),
          expiresAt: expect.any(String),
        },
      ],
      keys: [
        {
          _id: expect.any(Number),
          name: 'Import',
          start,
          scopes: ['read', 'write'],
          expiresAt: null,
          lastUsedAt: null,
          createdAt: expect.any(String),
          client: null,
        },
      ],
    });
    for (const secret of [key, grace.pair.access_token, grace.pair.refresh_token])
      expect(JSON.stringify(body)).not.toContain(secret);
  });

  test('ends the sessions of an employee in this company, and those elsewhere go on', async () => {
    const grace = await service.addEmployee(admin);
    const colleague = await service.addEmployee(admin);
    const elsewhere = await service.addEmployee(neighbour, { email: grace.email });
    const { key } = await makeKey(grace);
    expect((await admin.get(pathOf(grace, 'access'))).body.sessions).toHaveLength(1);
    expect((await admin.delete(pathOf(grace, 'sessions'))).body).toEqual({ ended: 1 });
    expect(errorOf(await grace.get(projects))).toEqual({ status: 401, code: 'SESSION_ENDED' });
    expect((await elsewhere.get('/api/sessions/')).status).toBe(200);
    expect((await colleague.get(projects)).status).toBe(200);
    expect((await anonymous.get(projects, withKey(key))).status).toBe(200);
    expect((await admin.delete(pathOf(grace, 'sessions'))).body).toEqual({ ended: 0 });
    expect((await service.signIn(grace.email, admin.companyId)).employeeId).toBe(grace.employeeId);
  });

  test('ends the API keys of an employee with the sessions that they opened, and nothing else', async () => {
    const boss = await service.addEmployee(admin, { isAdmin: true });
    const grace = await service.addEmployee(admin);
    const [mine, opening] = [await makeKey(admin), await makeKey(boss, ['login', 'read'])];
    const claim = { email: grace.email, company_id: admin.companyId };
    const { body: bound } = await anonymous.post('/token-login/', claim, withKey(opening.key));
    expect((await service.as(bound).get(projects)).status).toBe(200);
    expect((await admin.delete(pathOf(boss, 'api-keys'))).body).toEqual({ ended: 1 });
    expect((await anonymous.get(projects, withKey(opening.key))).status).toBe(401);
    expect((await service.as(bound).get(projects)).status).toBe(401);
    for (const alive of [
      await grace.get(projects),
      await boss.get(projects),
      await anonymous.get(projects, withKey(mine.key)),
    ])
      expect(alive.status).toBe(200);
    expect((await admin.delete(pathOf(boss, 'api-keys'))).body).toEqual({ ended: 0 });
  });
});

describe('the access of an employee', () => {
  const tries = (by: Actor, of: Actor) => [
    by.get(pathOf(of, 'access')),
    by.delete(pathOf(of, 'sessions')),
    by.delete(pathOf(of, 'api-keys')),
  ];

  test('is not there for the admin of another company', async () => {
    const grace = await service.addEmployee(admin);
    for (const answer of await Promise.all(tries(neighbour, grace)))
      expect(errorOf(answer)).toEqual({ status: 404, code: 'NOT_FOUND' });
    expect((await grace.get(projects)).status).toBe(200);
  });

  test('is refused to who is no admin, to API keys and to sessions that a key opened', async () => {
    const leader = await service.addEmployee(admin, { isTeamLeader: true });
    const grace = await service.addEmployee(admin);
    const { key } = await makeKey(admin, ['read', 'write', 'login']);
    const claim = { email: admin.email, company_id: admin.companyId };
    const { body: bound } = await anonymous.post('/token-login/', claim, withKey(key));
    const boundAdmin = { ...admin, ...service.as(bound) };
    const expected: [Actor, string][] = [
      [leader, 'ADMIN_REQUIRED'],
      [boundAdmin, 'SESSION_BOUND'],
    ];
    for (const [by, code] of expected)
      for (const answer of await Promise.all(tries(by, grace))) expect(errorOf(answer)).toEqual({ status: 403, code });
    expect(errorOf(await anonymous.get(pathOf(grace, 'access'), withKey(key)))).toEqual({
      status: 403,
      code: 'SESSION_REQUIRED',
    });
    expect((await grace.get(projects)).status).toBe(200);
  });

  test('is counted where it ends as it is shown: what has expired is gone', async () => {
    const grace = await service.addEmployee(admin);
    const expiresAt = new Date(service.clock.now().getTime() + 3_600_000).toISOString();
    await grace.post('/api/api-keys/', { name: 'Brief', scopes: ['read'], expiresAt });
    service.clock.advance({ days: 31 });
    const later = await service.signIn(admin.email, admin.companyId);
    expect((await later.get(pathOf(grace, 'access'))).body).toEqual({ sessions: [], keys: [] });
    for (const what of ['sessions', 'api-keys'])
      expect((await later.delete(pathOf(grace, what))).body).toEqual({ ended: 0 });
  });
});
