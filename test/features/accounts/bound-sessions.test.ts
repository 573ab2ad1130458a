import { describe, expect, test } from 'vitest';
import { errorOf, type Actor, type Caller } from '../../support/actor.ts';
import { password, startService } from '../../support/service.ts';

const service = await startService();
const { anonymous } = service;
const bound = { status: 403, code: 'SESSION_BOUND' };
const ended = { status: 401, code: 'SESSION_ENDED' };

type Key = { _id: number; key: string };

async function makeKey(admin: Actor): Promise<Key> {
  const { status, body } = await admin.post('/api/api-keys/', { name: 'SSO', scopes: ['login'] });
  expect(status).toBe(200);
  return body;
}

const open = ({ key }: Key, { email, companyId }: Actor) =>
  anonymous.post('/token-login/', { email, company_id: companyId }, { headers: { authorization: `Bearer ${key}` } });

async function signInByKey(key: Key, actor: Actor): Promise<Caller & { refreshToken: string }> {
  const { status, body } = await open(key, actor);
  expect(status).toBe(200);
  return { ...service.as(body), refreshToken: body.refresh_token };
}

describe('a session that an API key opened', () => {
  test('acts as the employee in the company', async () => {
    const admin = await service.registerCompany();
    const member = await service.addEmployee(admin);
    const session = await signInByKey(await makeKey(admin), member);
    const { body: project } = await session.post('/api/projects/', { name: 'Fair' });
    expect(project.owner_id).toBe(member.employeeId);
    expect((await session.get(`/notifications/unread-count/${member.employeeId}/`)).status).toBe(200);
    expect(errorOf(await session.post('/employee/add/', {}))).toMatchObject({ status: 403 });
  });

  test('reaches nothing of the account', async () => {
    const admin = await service.registerCompany();
    const member = await service.addEmployee(admin, { isAdmin: true });
    const session = await signInByKey(await makeKey(admin), member);
    const passwords = {
      current_password: password,
      new_password: 'another long one',
      confirm_password: 'another long one',
    };
    const asked = [
      session.get('/api/sessions/'),
      session.delete('/api/sessions/1/'),
      session.get('/api/invitations/'),
      session.post('/api/invitations/1/accept/'),
      session.post('/api/invitations/1/decline/'),
      session.post('/api/api-keys/', { name: 'More', scopes: ['login'] }),
      session.delete('/api/api-keys/1/'),
      session.put(`/employee/password/${member.employeeId}/`, passwords),
      session.patch(`/api/employees/${member.employeeId}/`, { email: 'mine@example.com' }),
      session.post('/token-login/', { email: member.email, company_id: admin.companyId }),
    ];
    for (const answer of await Promise.all(asked)) expect(errorOf(answer)).toEqual(bound);
    expect((await service.as(member.pair).get('/api/sessions/')).status).toBe(200);
    expect((await anonymous.post('/login/', { email: member.email, password })).status).toBe(200);
  });

  test('can be renewed and ended by itself', async () => {
    const admin = await service.registerCompany();
    const session = await signInByKey(await makeKey(admin), admin);
    const renewed = await anonymous.post('/api/token/refresh/', { refresh_token: session.refreshToken });
    expect(renewed.status).toBe(200);
    const again = service.as(renewed.body);
    expect((await again.get(`/employee/me/${admin.employeeId}/`)).status).toBe(200);
    expect((await again.post('/logout/')).body).toEqual({ success: true });
    expect(errorOf(await again.get(`/employee/me/${admin.employeeId}/`))).toEqual(ended);
  });

  test("is not among the account's sessions, and outlives its sign-outs", async () => {
    const admin = await service.registerCompany();
    const member = await service.addEmployee(admin);
    const session = await signInByKey(await makeKey(admin), member);
    const listed = await member.get('/api/sessions/');
    expect(listed.body.sessions).toHaveLength(1);
    await member.post('/logout/');
    expect((await session.get(`/employee/me/${member.employeeId}/`)).status).toBe(200);
  });

  const endings: Record<string, (parts: { admin: Actor; maker: Actor; member: Actor; key: Key }) => Promise<unknown>> =
    {
      'the key is revoked': ({ admin, key }) => admin.delete(`/api/api-keys/${key._id}/`),
      'the maker of the key is demoted': ({ admin, maker }) =>
        admin.patch(`/api/employees/${maker.employeeId}/`, { isAdmin: false }),
      'the maker of the key leaves': ({ admin, maker }) => admin.delete(`/api/employees/${maker.employeeId}/`),
      'the maker of the key gets another address': ({ admin, maker }) =>
        admin.patch(`/api/employees/${maker.employeeId}/`, { email: `successor${maker.employeeId}@example.com` }),
      'the employee is deactivated': ({ admin, member }) =>
        admin.patch(`/api/employees/${member.employeeId}/`, { is_active: false }),
    };
  test.each(Object.entries(endings))('ends when %s', async (_, end) => {
    const admin = await service.registerCompany();
    const maker = await service.addEmployee(admin, { isAdmin: true });
    const member = await service.addEmployee(admin);
    const key = await makeKey(maker);
    const session = await signInByKey(key, member);
    await end({ admin, maker, member, key });
    expect(errorOf(await session.get(`/employee/me/${member.employeeId}/`))).toEqual(ended);
  });
});

describe('a key with the scope login', () => {
  test('opens nothing once its maker is no admin, and makes nobody one again', async () => {
    const admin = await service.registerCompany();
    const maker = await service.addEmployee(admin, { isAdmin: true });
    const key = await makeKey(maker);
    await admin.patch(`/api/employees/${maker.employeeId}/`, { isAdmin: false });
    for (const target of [admin, maker])
      expect(errorOf(await open(key, target))).toEqual({ status: 403, code: 'ADMIN_REQUIRED' });
  });

  test('opens sessions for an employee whose invitation is open, without accepting it', async () => {
    const admin = await service.registerCompany();
    const names = { first_name: 'Grace', last_name: 'Hopper', email: 'pending@example.com' };
    const { body: added } = await admin.post('/employee/add/', { ...names, companyId: admin.companyId });
    const opened = await open(await makeKey(admin), { email: names.email, companyId: admin.companyId } as Actor);
    expect(opened.body.employee).toMatchObject({ _id: added._id, invitationStatus: 'pending' });
  });

  test('mails an address that never accepted about three keys a day, however many sign it in', async () => {
    const admin = await service.registerCompany();
    const names = { first_name: 'Grace', last_name: 'Hopper', email: 'quiet@example.com' };
    await admin.post('/employee/add/', { ...names, companyId: admin.companyId });
    for (let made = 0; made < 5; made += 1) {
      const key = await makeKey(admin);
      for (let again = 0; again < 2; again += 1)
        expect((await open(key, { email: names.email, companyId: admin.companyId } as Actor)).status).toBe(200);
    }
    await service.drain();
    const told = service.mailbox.to(names.email).filter(({ template }) => template === 'account-notice');
    expect(told).toHaveLength(3);
  });
});
