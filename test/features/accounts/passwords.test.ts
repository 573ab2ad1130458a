import { describe, expect, test } from 'vitest';
import { errorOf } from '../../support/actor.ts';
import { password, startService } from '../../support/service.ts';

const service = await startService();
const { anonymous, mailbox, clock } = service;
const next = 'a brand new passphrase';

async function resetToken(email: string): Promise<string> {
  expect(await anonymous.post('/reset/link/', { email })).toMatchObject({ status: 200, body: { success: true } });
  await service.drain();
  const [link] = /https:\/\/app\.example\.test\/reset-password\?token=\S+/.exec(mailbox.to(email).at(-1)!.text)!;
  return new URL(link).searchParams.get('token')!;
}

const reset = (token: string, fields = { new_password: next, confirm_password: next }) =>
  anonymous.post('/reset/verify/', { token, ...fields });

describe('a reset', () => {
  test('sets the password, ends every session, and works once', async () => {
    const ada = await service.registerCompany({ email: 'ada@example.com' });
    const token = await resetToken('ada@example.com');
    expect(await reset(token)).toMatchObject({ status: 200, body: { success: true } });
    expect(errorOf(await ada.get('/api/sessions/'))).toEqual({ status: 401, code: 'SESSION_ENDED' });
    expect((await anonymous.post('/login/', { email: 'ada@example.com', password: next })).status).toBe(200);
    expect(errorOf(await reset(token))).toEqual({ status: 401, code: 'INVALID_RESET_TOKEN' });
  });

  test('is refused after 30 minutes and with an invented token', async () => {
    await service.registerCompany({ email: 'late@example.com' });
    const token = await resetToken('late@example.com');
    clock.advance({ minutes: 30, seconds: 1 });
    expect(errorOf(await reset(token))).toEqual({ status: 401, code: 'INVALID_RESET_TOKEN' });
    expect(errorOf(await reset('x'.repeat(43)))).toEqual({ status: 401, code: 'INVALID_RESET_TOKEN' });
  });

  test('refuses a mismatch and weak passwords, and leaves the token unused', async () => {
    await service.registerCompany({ email: 'weak@example.com' });
    const token = await resetToken('weak@example.com');
    const mismatch = await reset(token, { new_password: next, confirm_password: `${next}!` });
    expect(errorOf(mismatch)).toEqual({ status: 400, code: 'PASSWORD_MISMATCH', issues: ['confirm_password'] });
    for (const weak of ['short7!', 'password123', 'PASSWORD1', '']) {
      const answer = await reset(token, { new_password: weak, confirm_password: weak });
      expect(errorOf(answer)).toEqual({ status: 400, code: 'PASSWORD_TOO_WEAK', issues: ['new_password'] });
    }
    expect((await reset(token)).status).toBe(200);
  });

  test('kills the other links that were asked for before', async () => {
    await service.registerCompany({ email: 'twice@example.com' });
    const first = await resetToken('twice@example.com');
    const second = await resetToken('twice@example.com');
    expect((await reset(second)).status).toBe(200);
    expect(errorOf(await reset(first))).toEqual({ status: 401, code: 'INVALID_RESET_TOKEN' });
  });

  test('sends nothing to an unknown address and answers the same', async () => {
    const answer = await anonymous.post('/reset/link/', { email: 'nobody@example.com' });
    expect(answer).toMatchObject({ status: 200, body: { success: true } });
    await service.drain();
    expect(mailbox.to('nobody@example.com')).toEqual([]);
  });

  test('builds its link from the settings, whatever the headers say', async () => {
    await service.registerCompany({ email: 'host@example.com' });
    const headers = {
      'x-forwarded-host': 'evil.example',
      'x-forwarded-proto': 'gopher',
      forwarded: 'host=evil.example',
      origin: 'https://evil.example',
    };
    await anonymous.post('/reset/link/', { email: 'host@example.com' }, { headers });
    await service.drain();
    const mail = mailbox.to('host@example.com').at(-1)!;
    expect(mail.text).toContain('https://app.example.test/reset-password?token=');
    expect(mail.text + mail.html).not.toContain('evil');
  });

  test('lets an invited address set its first password, which accepts no invitation', async () => {
    const admin = await service.registerCompany();
    const added = await admin.post('/employee/add/', {
      first_name: 'Grace',
      last_name: 'Hopper',
      email: 'grace@example.com',
      companyId: admin.companyId,
    });
    expect(added.status).toBe(200);
    const token = await resetToken('grace@example.com');
    expect((await reset(token)).status).toBe(200);
    const login = await anonymous.post('/login/', { email: 'grace@example.com', password: next });
    expect(login.body).toMatchObject({ employee: null, company: null });
    expect((await admin.get(`/employee/me/${added.body._id}/`)).body.invitationStatus).toBe('pending');
  });

  test('keeps token and password out of the log', async () => {
    await service.registerCompany({ email: 'quiet@example.com' });
    const token = await resetToken('quiet@example.com');
    await reset(token);
    expect(service.log()).not.toContain(token);
    expect(service.log()).not.toContain(next);
  });
});

describe('a change of password', () => {
  const change = { current_password: password, new_password: next, confirm_password: next };

  test('needs the current one, and ends every other session but this', async () => {
    const admin = await service.registerCompany({ email: 'change@example.com' });
    const here = await service.signIn(admin.email);
    const path = `/employee/password/${here.employeeId}/`;
    expect(errorOf(await here.put(path, { ...change, current_password: 'wrong' }))).toEqual({
      status: 403,
      code: 'CURRENT_PASSWORD_WRONG',
    });
    expect((await admin.get('/api/sessions/')).status).toBe(200);
    expect(await here.put(path, change)).toMatchObject({ status: 200, body: { success: true } });
    expect((await here.get('/api/sessions/')).status).toBe(200);
    expect(errorOf(await admin.get('/api/sessions/'))).toEqual({ status: 401, code: 'SESSION_ENDED' });
    expect((await anonymous.post('/login/', { email: admin.email, password: next })).status).toBe(200);
    expect(errorOf(await anonymous.post('/login/', { email: admin.email, password }))).toMatchObject({ status: 401 });
  });

  test('refuses a mismatch and a weak one', async () => {
    const admin = await service.registerCompany({ email: 'strict@example.com' });
    const here = await service.signIn(admin.email);
    const path = `/employee/password/${here.employeeId}/`;
    expect(errorOf(await here.put(path, { ...change, confirm_password: 'x' }))).toMatchObject({
      status: 400,
      code: 'PASSWORD_MISMATCH',
    });
    expect(
      errorOf(await here.put(path, { ...change, new_password: '12345678', confirm_password: '12345678' })),
    ).toMatchObject({ status: 400, code: 'PASSWORD_TOO_WEAK' });
    expect((await anonymous.post('/login/', { email: admin.email, password })).status).toBe(200);
  });

  test("is for one's own: a colleague's is 403, a stranger's 404, also for an admin", async () => {
    const admin = await service.registerCompany();
    const grace = await service.addEmployee(admin);
    const foreign = await service.registerCompany();
    expect(errorOf(await admin.put(`/employee/password/${grace.employeeId}/`, change))).toEqual({
      status: 403,
      code: 'FORBIDDEN',
    });
    expect(errorOf(await admin.put(`/employee/password/${foreign.employeeId}/`, change))).toEqual({
      status: 404,
      code: 'NOT_FOUND',
    });
    expect((await anonymous.post('/login/', { email: grace.email, password })).status).toBe(200);
  });

  test('closes after ten wrong current passwords', async () => {
    const admin = await service.registerCompany({ email: 'guess@example.com' });
    const here = await service.signIn(admin.email);
    const path = `/employee/password/${here.employeeId}/`;
    for (let attempt = 0; attempt < 10; attempt += 1) await here.put(path, { ...change, current_password: 'wrong' });
    expect(errorOf(await here.put(path, change))).toEqual({ status: 429, code: 'RATE_LIMITED' });
  });
});
