import { describe, expect, test } from 'vitest';
import { errorOf, type Actor } from '../../support/actor.ts';
import { password, startService } from '../../support/service.ts';

const service = await startService();
const { anonymous, mailbox, clock } = service;
const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0';
const safari =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605 Version/18.0 Mobile Safari/604.1';

/** The notices to an address since the last look, by their subjects. */
async function newNotices(email: string): Promise<{ subject: string; text: string }[]> {
  await service.drain();
  const all = mailbox.to(email).filter(({ template }) => template === 'account-notice');
  const seen = seenNotices.get(email) ?? 0;
  seenNotices.set(email, all.length);
  return all.slice(seen);
}
const seenNotices = new Map<string, number>();
const subjects = async (email: string) => (await newNotices(email)).map(({ subject }) => subject);

const login = (email: string, userAgent: string) =>
  anonymous.post('/login/', { email, password }, { headers: { 'user-agent': userAgent } });

async function newAdmin(): Promise<Actor> {
  const admin = await service.registerCompany();
  return service.signIn(admin.email);
}

const newPassword = 'a much better password';
const change = (person: Actor, body: object = {}) =>
  person.put(`/employee/password/${person.employeeId}/`, {
    current_password: password,
    new_password: newPassword,
    confirm_password: newPassword,
    ...body,
  });

async function tokenOf(email: string): Promise<string> {
  await anonymous.post('/reset/link/', { email });
  await service.drain();
  return /token=([\w-]+)/.exec(mailbox.to(email).at(-1)!.text)![1]!;
}

describe('the owner of an account is told by mail', () => {
  test('of a sign-in from a device or network that the account has not used in 90 days, and of no other', async () => {
    const { email } = await newAdmin();
    expect(await subjects(email)).toEqual([]);
    await login(email, firefox);
    const [notice, ...more] = await newNotices(email);
    expect(more).toEqual([]);
    expect(notice!.subject).toBe('A sign-in from a new device');
    for (const part of ['Firefox on Linux', '127.0.0.1', 'UTC', 'forgot password'])
      expect(notice!.text).toContain(part);
    await login(email, firefox.replaceAll('145', '146'));
    expect(await subjects(email)).toEqual([]);
    await login(email, safari);
    expect(await subjects(email)).toEqual(['A sign-in from a new device']);
    // Of what a program calls itself nothing is shown.
    await login(email, 'http://evil.example/ wins');
    const [strange] = await newNotices(email);
    expect(strange!.text).toContain('an unknown program');
    expect(strange!.text).not.toContain('evil');
    clock.advance({ days: 50 });
    await login(email, firefox);
    clock.advance({ days: 50 });
    await login(email, firefox);
    expect(await subjects(email)).toEqual([]);
    await login(email, safari);
    expect(await subjects(email)).toEqual(['A sign-in from a new device']);
  });

  test('of no sign-in that is refused', async () => {
    const { email } = await newAdmin();
    await anonymous.post('/login/', { email, password: 'wrong' }, { headers: { 'user-agent': firefox } });
    expect(await subjects(email)).toEqual([]);
  });

  test('of a new API key, without the key', async () => {
    const admin = await newAdmin();
    const { body } = await admin.post('/api/api-keys/', { name: 'Nightly import', scopes: ['read', 'write'] });
    const [notice] = await newNotices(admin.email);
    expect(notice!.subject).toBe('A new API key was made in your name');
    expect(notice!.text).toContain('“Nightly import”');
    expect(notice!.text).not.toContain(body.start);
    expect((await admin.post('/api/api-keys/', { name: 'x', scopes: ['no'] })).status).toBe(400);
    expect(await subjects(admin.email)).toEqual([]);
  });

  test('of the first session that each key of their company opens for them', async () => {
    const admin = await newAdmin();
    const grace = await service.addEmployee(admin);
    const { body } = await admin.post('/api/api-keys/', { name: 'Portal', scopes: ['login'] });
    const open = (email: string) =>
      anonymous.post(
        '/token-login/',
        { email, company_id: admin.companyId },
        { headers: { authorization: `Bearer ${body.key}` } },
      );
    expect((await open(grace.email)).status).toBe(200);
    const [notice, ...more] = await newNotices(grace.email);
    expect(more).toEqual([]);
    expect(notice!.subject).toBe('An API key of Analytical Engines signed you in');
    expect(notice!.text).toContain('“Portal”');
    expect((await open(grace.email)).status).toBe(200);
    expect(await subjects(grace.email)).toEqual([]);
  });

  test('of three keys a day at an address that has not accepted, whichever employee has it', async () => {
    const admin = await newAdmin();
    const email = 'outside@example.com';
    const person = { first_name: 'Eve', last_name: 'Outside', companyId: admin.companyId };
    for (const other of ['one@example.com', 'two@example.com']) {
      const { body: employee } = await admin.post('/employee/add/', { ...person, email });
      for (let keys = 0; keys < 2; keys += 1) {
        const { body } = await admin.post('/api/api-keys/', { name: 'Portal', scopes: ['login'] });
        const headers = { authorization: `Bearer ${body.key}` };
        const signIn = { email, company_id: admin.companyId };
        expect((await anonymous.post('/token-login/', signIn, { headers })).status).toBe(200);
      }
      expect((await admin.patch(`/api/employees/${employee._id}/`, { email: other })).status).toBe(200);
    }
    expect(await subjects(email)).toHaveLength(3);
  });

  test('that a company gave their place another address', async () => {
    const admin = await newAdmin();
    const grace = await service.addEmployee(admin);
    expect((await admin.patch(`/api/employees/${grace.employeeId}/`, { email: 'next@example.com' })).status).toBe(200);
    expect(await subjects(grace.email)).toEqual(['Your place in Analytical Engines has another address now']);
    expect(await subjects('next@example.com')).toEqual([]);
  });
});

describe('a password that is changed', () => {
  test('ends open reset links, codes and tickets, and is told by mail with the keys that stay valid', async () => {
    const admin = await newAdmin();
    const { body: key } = await admin.post('/api/api-keys/', { name: 'Nightly import', scopes: ['read'] });
    await newNotices(admin.email);
    const token = await tokenOf(admin.email);
    await anonymous.post('/verify-email/', { email: admin.email });
    await service.drain();
    const otp = mailbox.lastCode(admin.email);

    expect((await change(admin)).status).toBe(200);
    const [notice, ...more] = await newNotices(admin.email);
    expect(more).toEqual([]);
    expect(notice!.subject).toBe('Your password was changed');
    expect(notice!.text).toContain(`- Nightly import (${key.start}…), Analytical Engines`);
    const reset = { token, new_password: 'the attacker’s one', confirm_password: 'the attacker’s one' };
    expect(errorOf(await anonymous.post('/reset/verify/', reset))).toEqual({
      status: 401,
      code: 'INVALID_RESET_TOKEN',
    });
    expect(errorOf(await anonymous.post('/otp-login/', { email: admin.email, otp }))).toEqual({
      status: 401,
      code: 'INVALID_OTP',
    });
    const byKey = await anonymous.get(`/api/projects/company/${admin.companyId}/`, {
      headers: { authorization: `Bearer ${key.key}` },
    });
    expect(byKey.status).toBe(200);
    expect((await admin.get('/api/sessions/')).status).toBe(200);
  });

  test('ends the API keys of the account where that is asked for, and no others', async () => {
    const admin = await newAdmin();
    const colleague = await service.addEmployee(admin);
    const keys = [];
    for (const person of [admin, colleague])
      keys.push((await person.post('/api/api-keys/', { name: 'Import', scopes: ['read'] })).body.key as string);
    expect((await change(admin, { revoke_api_keys: true })).status).toBe(200);
    const use = (key: string) =>
      anonymous.get(`/api/projects/company/${admin.companyId}/`, { headers: { authorization: `Bearer ${key}` } });
    expect([(await use(keys[0]!)).status, (await use(keys[1]!)).status]).toEqual([401, 200]);
  });

  test('is reported to nobody if it failed', async () => {
    const admin = await newAdmin();
    expect(errorOf(await change(admin, { current_password: 'wrong' })).status).toBe(403);
    expect(await subjects(admin.email)).toEqual([]);
  });
});

describe('a password that is reset', () => {
  test('ends the sessions and API keys of the account, its codes and links, and is told by mail', async () => {
    const admin = await newAdmin();
    const { body: key } = await admin.post('/api/api-keys/', { name: 'Import', scopes: ['read'] });
    await newNotices(admin.email);
    const [other, token] = [await tokenOf(admin.email), await tokenOf(admin.email)];
    await anonymous.post('/verify-email/', { email: admin.email });
    await service.drain();
    const otp = mailbox.lastCode(admin.email);
    const reset = (using: string) =>
      anonymous.post('/reset/verify/', { token: using, new_password: newPassword, confirm_password: newPassword });
    expect((await reset(token)).status).toBe(200);
    expect(await subjects(admin.email)).toEqual(['Your password was reset']);
    const headers = { authorization: `Bearer ${key.key}` };
    for (const answer of [
      await reset(other),
      await anonymous.post('/otp-login/', { email: admin.email, otp }),
      await admin.get('/api/sessions/'),
      await anonymous.get(`/api/projects/company/${admin.companyId}/`, { headers }),
    ])
      expect(answer.status).toBe(401);
  });
});

describe('a new password is too weak', () => {
  const weak = { status: 400, code: 'PASSWORD_TOO_WEAK', issues: ['new_password'] };

  test.each([
    ['the address', (email: string) => email],
    ['the address in capitals', (email: string) => ` ${email.toUpperCase()} `],
    ['the address before its @', (email: string) => email.slice(0, email.indexOf('@'))],
    ['one repeated character', () => 'zzzzzzzzzzzz'],
    ['one repeated character of two halves', () => '🦉'.repeat(9)],
    ['a common one in capitals', () => 'PassWord123'],
  ])('where it is %s, in a change and in a reset', async (_what, weakFor) => {
    const email = `longenough${Math.random().toString(36).slice(2)}@example.com`;
    await service.registerCompany({ email });
    const admin = await service.signIn(email);
    const weakOne = { new_password: weakFor(email), confirm_password: weakFor(email) };
    expect(errorOf(await change(admin, weakOne))).toEqual(weak);
    const token = await tokenOf(email);
    expect(errorOf(await anonymous.post('/reset/verify/', { token, ...weakOne }))).toEqual(weak);
    // The link is not used up by it.
    const good = { new_password: newPassword, confirm_password: newPassword };
    expect((await anonymous.post('/reset/verify/', { token, ...good })).status).toBe(200);
  });
});
