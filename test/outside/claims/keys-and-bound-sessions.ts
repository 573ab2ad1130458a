import { describe, expect, test } from 'vitest';
import { got, headersOf, said } from '../caller.ts';
import { service } from '../running.ts';

/* Contract 2.4: API keys, the sessions that they open, and what admins see of both. */

const { anonymous, mails } = service;
const admin = await service.register({ company_name: 'Keepers' });
const neighbour = await service.register();
const list = `/employee/list/${admin.companyId}/`;
const fields = ['_id', 'client', 'createdAt', 'expiresAt', 'lastUsedAt', 'name', 'scopes', 'start'];

describe('contract 2.4, API keys', () => {
  test('begin with wms_, and are shown once', async () => {
    const made = got(await admin.post('/api/api-keys/', { name: 'Once', scopes: ['read'], expiresAt: null }));
    expect(made.key).toMatch(/^wms_\S{30,}$/);
    expect(Object.keys(made).toSorted()).toEqual([...fields, 'key'].toSorted());
    const text = JSON.stringify(got(await admin.get('/api/api-keys/')));
    expect(text).toContain('"Once"');
    expect(text).not.toContain(made.key);
  });

  test('are Bearer alone', async () => {
    const key = await service.makeKey(admin, ['read']);
    expect(said(await key.get(list))).toBe('200');
    expect(said(await service.asKey(`${key.key}x`).get(list))).toBe('401 INVALID_TOKEN');
  });

  test('are scoped: what only reads cannot write, and neither can sign anybody in', async () => {
    const key = await service.makeKey(admin, ['read']);
    expect(said(await key.post('/api/projects/', { name: 'x' }))).toBe('403 SCOPE_REQUIRED');
    expect(said(await key.post('/token-login/', { email: admin.email, company_id: admin.companyId }))).toBe(
      '403 SCOPE_REQUIRED',
    );
    const writes = await service.makeKey(admin, ['write']);
    expect(said(await writes.post('/api/projects/', { name: 'x' }))).toBe('200');
    expect(said(await admin.post('/api/api-keys/', { name: 'x', scopes: ['everything'] }))).toBe(
      '400 VALIDATION_FAILED scopes.0:invalid_value',
    );
  });

  test('are revoked by DELETE, at once', async () => {
    const key = await service.makeKey(admin, ['read']);
    expect(said(await neighbour.delete(`/api/api-keys/${key._id}/`))).toBe('404 NOT_FOUND');
    expect(got(await admin.delete(`/api/api-keys/${key._id}/`))).toEqual({ success: true });
    expect(said(await key.get(list))).toBe('401 INVALID_TOKEN');
  });

  test('stay in their company', async () => {
    const key = await service.makeKey(admin, ['read', 'write']);
    expect(said(await key.get(`/employee/list/${neighbour.companyId}/`))).toBe('404 NOT_FOUND');
  });

  test('make no keys, and no sessions of the account', async () => {
    const key = await service.makeKey(admin, ['read', 'write', 'login']);
    expect(said(await key.post('/api/api-keys/', { name: 'x', scopes: ['read'] }))).toBe('403 SESSION_REQUIRED');
    expect(said(await key.get('/api/sessions/'))).toBe('403 SESSION_REQUIRED');
    expect(said(await key.get('/api/invitations/'))).toBe('403 SESSION_REQUIRED');
  });

  test('end when they expire, which is in the future', async () => {
    expect(
      said(await admin.post('/api/api-keys/', { name: 'x', scopes: ['read'], expiresAt: '2020-01-01T00:00:00Z' })),
    ).toMatch(/^400 VALIDATION_FAILED expiresAt:/);
    const expiresAt = new Date(Date.now() + 1500).toISOString();
    const { key } = got(await admin.post('/api/api-keys/', { name: 'Soon over', scopes: ['read'], expiresAt }));
    expect(said(await service.asKey(key).get(list))).toBe('200');
    await expect.poll(async () => said(await service.asKey(key).get(list))).toBe('401 INVALID_TOKEN');
  });

  test('end with their maker’s place in the company', async () => {
    const maker = await service.join(admin);
    const deactivated = await service.makeKey(maker, ['read']);
    got(await admin.patch(`/api/employees/${maker._id}/`, { is_active: false }));
    expect(said(await deactivated.get(list))).toMatch(/^401 /);
    const leaver = await service.join(admin);
    const deleted = await service.makeKey(leaver, ['read']);
    got(await admin.delete(`/api/employees/${leaver._id}/`));
    expect(said(await deleted.get(list))).toMatch(/^401 /);
  });

  test('are reported by mail', async () => {
    const maker = await service.join(admin);
    const mail = await mails.causedBy(() => service.makeKey(maker, ['read']), maker.email, 'account-notice');
    expect(mail.subject).toBe('A new API key was made in your name');
    expect(mail.text).not.toContain('wms_');
  });

  test('with the scope login are made by admins, and work while their maker is an active one', async () => {
    const member = await service.join(admin);
    expect(said(await member.post('/api/api-keys/', { name: 'x', scopes: ['login'] }))).toBe('403 ADMIN_REQUIRED');
    const second = await service.join(admin);
    got(await admin.patch(`/api/employees/${second._id}/`, { isAdmin: true }));
    const key = await service.makeKey(second, ['login']);
    const enter = () => key.post('/token-login/', { email: member.email, company_id: admin.companyId });
    const bound = service.as(got(await enter()));
    expect(said(await bound.get(list))).toBe('200');
    got(await admin.patch(`/api/employees/${second._id}/`, { isAdmin: false }));
    expect(said(await enter())).toBe('403 ADMIN_REQUIRED');
    expect(said(await bound.get(list))).toBe('401 SESSION_ENDED');
  });
});

describe('contract 2.4, a session that a key opened', async () => {
  const person = await service.join(admin);
  const other = await service.register({ company_name: 'Elsewhere' });
  await service.invite(other, { email: person.email });
  const [invitation] = got(await person.get('/api/invitations/')).invitations;
  const key = await service.makeKey(admin, ['login']);
  const enter = async () => got(await key.post('/token-login/', { email: person.email, company_id: admin.companyId }));
  const pair = await enter();
  const bound = service.as(pair);
  const [{ _id: ownSession }] = got(await person.get('/api/sessions/')).sessions;

  test('acts as that employee in that company', async () => {
    expect(pair.employee._id).toBe(person._id);
    expect(said(await bound.get(list))).toBe('200');
    expect(said(await bound.patch(`/api/employees/${person._id}/`, { phone: '1' }))).toBe('200');
    expect(said(await bound.get(`/employee/list/${neighbour.companyId}/`))).toBe('404 NOT_FOUND');
  });

  test.each([
    ['change company', 'POST', '/token-login/', { email: person.email, company_id: admin.companyId }],
    ['read other sessions', 'GET', '/api/sessions/', undefined],
    ['end other sessions', 'DELETE', `/api/sessions/${ownSession}/`, undefined],
    ['make keys', 'POST', '/api/api-keys/', { name: 'x', scopes: ['read'] }],
    [
      'change a password',
      'PUT',
      `/employee/password/${person._id}/`,
      { current_password: 'x', new_password: 'a good enough one', confirm_password: 'a good enough one' },
    ],
    ['list invitations', 'GET', '/api/invitations/', undefined],
    ['accept an invitation', 'POST', `/api/invitations/${invitation._id}/accept/`, undefined],
    ['decline an invitation', 'POST', `/api/invitations/${invitation._id}/decline/`, undefined],
  ])('cannot %s', async (_what, method, path, body) => {
    expect(said(await anonymous.send(method, path, body, headersOf(pair)))).toBe('403 SESSION_BOUND');
  });

  test('cannot change an address, even as an admin', async () => {
    const asAdmin = got(await key.post('/token-login/', { email: admin.email, company_id: admin.companyId }));
    const change = { email: service.newEmail() };
    expect(said(await service.as(asAdmin).patch(`/api/employees/${person._id}/`, change))).toBe('403 SESSION_BOUND');
  });

  test('is reported by mail the first time that each key does it, and only then', async () => {
    const colleague = await service.join(admin);
    const fresh = await service.makeKey(admin, ['login']);
    const open = () => fresh.post('/token-login/', { email: colleague.email, company_id: admin.companyId });
    const mail = await mails.causedBy(open, colleague.email, 'account-notice');
    expect(mail.subject).toBe('An API key of Keepers signed you in');
    got(await open());
    const another = await service.makeKey(admin, ['login']);
    const next = () => another.post('/token-login/', { email: colleague.email, company_id: admin.companyId });
    await mails.causedBy(next, colleague.email, 'account-notice');
    expect(mails.all().filter(({ to, subject }) => to === colleague.email && subject === mail.subject)).toHaveLength(2);
  });

  test('can be renewed and logged out', async () => {
    const opened = await enter();
    const { refresh_token } = opened;
    const renewed = got(await anonymous.post('/api/token/refresh/', { refresh_token }));
    expect(said(await service.as(renewed).get('/api/sessions/'))).toBe('403 SESSION_BOUND');
    expect(got(await service.as(renewed).post('/logout/'))).toEqual({ success: true });
  });
});

describe('contract 2.4 and 5, sessions', () => {
  test('one’s own are listed with device and last use, and one is ended', async () => {
    const person = await service.join(admin);
    const other = service.as(got(await service.codeLogin(person.email)));
    const { sessions } = got(await person.get('/api/sessions/', { 'user-agent': 'Outside/1.0' }));
    expect(sessions).toHaveLength(2);
    for (const session of sessions) {
      for (const field of ['_id', 'device', 'lastUsedAt', 'createdAt', 'isCurrent'])
        expect(session).toHaveProperty(field);
    }
    const { _id } = sessions.find((one: { isCurrent: boolean }) => !one.isCurrent);
    expect(said(await neighbour.delete(`/api/sessions/${_id}/`))).toBe('404 NOT_FOUND');
    expect(got(await person.delete(`/api/sessions/${_id}/`))).toEqual({ success: true });
    expect(said(await other.get(list))).toBe('401 SESSION_ENDED');
    expect(said(await person.get(list))).toBe('200');
  });

  test('admins list and end the sessions and keys of their employees, in their own company only', async () => {
    const email = service.newEmail();
    const own = await service.register({ email });
    const employee = await service.invite(admin, { email });
    const here = service.as(got(await service.codeLogin(email, { company_id: admin.companyId })));
    const key = await service.makeKey(here, ['read']);
    const path = `/api/employees/${employee._id}`;
    const access = got(await admin.get(`${path}/access/`));
    expect([access.sessions.length, access.keys.length]).toEqual([1, 1]);
    expect(JSON.stringify(access)).not.toContain(key.key);
    expect(got(await admin.delete(`${path}/api-keys/`))).toEqual({ ended: 1 });
    expect(said(await key.get(list))).toMatch(/^401 /);
    expect(got(await admin.delete(`${path}/sessions/`))).toEqual({ ended: 1 });
    expect(said(await here.get(list))).toBe('401 SESSION_ENDED');
    expect(said(await own.get(`/employee/list/${own.companyId}/`))).toBe('200');
  });

  test('only admins do, and of their own company', async () => {
    const [member, other] = [await service.join(admin), await service.join(admin)];
    for (const [method, end] of [
      ['GET', 'access'],
      ['DELETE', 'sessions'],
      ['DELETE', 'api-keys'],
    ] as const) {
      const path = `/api/employees/${other._id}/${end}/`;
      expect(said(await member.send(method, path))).toBe('403 ADMIN_REQUIRED');
      expect(said(await neighbour.send(method, path))).toBe('404 NOT_FOUND');
    }
  });
});
