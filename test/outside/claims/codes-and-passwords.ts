import { describe, expect, test } from 'vitest';
import { got, keyHeader, said } from '../caller.ts';
import { password } from '../people.ts';
import { service } from '../running.ts';

/*
 * Contract 2: one-time codes, passwords and their mails.
 *
 * Not to be seen from outside: that a code ends after 10 minutes and a reset link after 30 (test/features/accounts/code-login.test.ts,
 * test/features/accounts/passwords.test.ts), and that both are stored hashed (the same files).
 */

const { anonymous, mails } = service;
const admin = await service.register();

const enter = (email: string, otp: string) => anonymous.post('/otp-login/', { email, otp });
const otherThan = (code: string): string => (code === '000000' ? '000001' : '000000');
const askForLink = async (email: string): Promise<string> => {
  const { text } = await mails.causedBy(() => anonymous.post('/reset/link/', { email }), email, 'password-reset');
  return /token=([\w-]+)/.exec(text)![1]!;
};
const reset = (token: string, chosen: string, confirmed = chosen) =>
  anonymous.post('/reset/verify/', { token, new_password: chosen, confirm_password: confirmed });
const signIn = async (email: string, chosen = password) =>
  service.as(got(await anonymous.post('/login/', { email, password: chosen })));

describe('contract 2, codes', () => {
  test('have 6 digits, and come by mail', async () => {
    expect(await service.codeFor(admin.email)).toMatch(/^\d{6}$/);
  });

  test('sign in once', async () => {
    const otp = await service.codeFor(admin.email);
    expect(got(await enter(admin.email, otp)).employee._id).toBe(admin._id);
    expect(said(await enter(admin.email, otp))).toBe('401 INVALID_OTP');
  });

  test('are for one address', async () => {
    const other = await service.join(admin);
    expect(said(await enter(other.email, await service.codeFor(admin.email)))).toBe('401 INVALID_OTP');
  });

  test('are for one purpose: a sign-in code registers nobody, and a registration code signs nobody in', async () => {
    const person = await service.register();
    const signInCode = await service.codeFor(person.email);
    const company = { company_name: 'X', email: person.email, first_name: 'A', last_name: 'B' };
    expect(said(await anonymous.post('/api/create-company-and-employee/', { ...company, otp: signInCode }))).toBe(
      '401 INVALID_OTP',
    );
    expect(said(await enter(person.email, await service.codeFor(person.email, '/get-register-otp/')))).toBe(
      '401 INVALID_OTP',
    );
  });

  test('are dead after 5 wrong tries', async () => {
    const { email } = await service.register();
    const otp = await service.codeFor(email);
    for (let nth = 0; nth < 5; nth += 1) expect(said(await enter(email, otherThan(otp)))).toBe('401 INVALID_OTP');
    expect(said(await enter(email, otp))).toBe('401 INVALID_OTP');
  });

  test('survive 4 wrong tries', async () => {
    const { email } = await service.register();
    const otp = await service.codeFor(email);
    for (let nth = 0; nth < 4; nth += 1) await enter(email, otherThan(otp));
    expect(said(await enter(email, otp))).toBe('200');
  });

  test('are replaced by a new one', async () => {
    const { email } = await service.register();
    const [first, second] = [await service.codeFor(email), await service.codeFor(email)];
    expect(said(await enter(email, first))).toBe(first === second ? '200' : '401 INVALID_OTP');
    expect(said(await enter(email, second))).toBe(first === second ? '401 INVALID_OTP' : '200');
  });

  test('are text of 6 digits, nothing else', async () => {
    for (const otp of ['12345', '1234567', 'abcdef', '12 345'])
      expect(said(await enter(admin.email, otp))).toBe('400 VALIDATION_FAILED otp:invalid_format');
  });

  test('of POST /verify-email/ are announced the same, whether or not the address is known', async () => {
    for (const email of [admin.email, 'nobody@example.com'])
      expect(got(await anonymous.post('/verify-email/', { email }))).toEqual({ success: true });
  });

  test('are sent 5 times an hour to one address, whatever is asked, and to others still', async () => {
    const email = service.newEmail();
    for (const path of [
      '/verify-email/',
      '/get-register-otp/',
      '/verify-email/',
      '/get-register-otp/',
      '/verify-email/',
    ])
      expect(said(await anonymous.post(path, { email }))).toBe('200');
    const refused = await anonymous.post('/verify-email/', { email: email.toUpperCase() });
    expect(said(refused)).toBe('429 RATE_LIMITED');
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(60);
    expect(said(await anonymous.post('/verify-email/', { email: service.newEmail() }))).toBe('200');
  });

  test('are tried in vain 20 times a day at one address, and its owner’s next code works all the same', async () => {
    const { email } = await service.register();
    const otp = await service.codeFor(email);
    const answers: string[] = [];
    for (let nth = 0; nth < 26; nth += 1) answers.push(said(await enter(email, otherThan(otp))));
    expect(answers.slice(0, 20)).toEqual(Array(20).fill('401 INVALID_OTP'));
    expect(answers.slice(20)).toContain('429 RATE_LIMITED');
    expect(said(await enter(email, await service.codeFor(email)))).toBe('200');
  });
});

describe('contract 2, POST /reset/link/', () => {
  test('answers success, whether or not the address is known, and mails known ones alone', async () => {
    const known = await mails.causedBy(
      async () => {
        for (const email of ['nobody-here@example.com', admin.email])
          expect(got(await anonymous.post('/reset/link/', { email }))).toEqual({ success: true });
      },
      admin.email,
      'password-reset',
    );
    expect(known.to).toBe(admin.email);
    expect(mails.all().filter(({ to }) => to === 'nobody-here@example.com')).toEqual([]);
  });

  test('sends a link to the configured address, whatever Host says, with a token of 256 bits', async () => {
    const ask = () =>
      anonymous.post(
        '/reset/link/',
        { email: admin.email },
        { 'x-forwarded-host': 'evil.example', origin: 'https://evil.example' },
      );
    const { text, html } = await mails.causedBy(ask, admin.email, 'password-reset');
    expect(text).toMatch(/https:\/\/app\.example\.test\/reset-password\?token=[\w-]{43}(?![\w-])/);
    expect(text + html).not.toContain('evil.example');
  });
});

describe('contract 2, POST /reset/verify/', () => {
  test('refuses two passwords that differ, and weak ones', async () => {
    const token = await askForLink(admin.email);
    expect(said(await reset(token, password, `${password}!`))).toBe('400 PASSWORD_MISMATCH confirm_password:mismatch');
    for (const weak of [
      'short12',
      'password',
      'Password1',
      '12345678',
      'aaaaaaaaaaaa',
      admin.email,
      admin.email.toUpperCase(),
    ])
      expect([weak, said(await reset(token, weak))]).toEqual([weak, '400 PASSWORD_TOO_WEAK new_password:too_weak']);
    expect(said(await reset(token, 'eight ch'))).toBe('200');
  });

  test('asks for no composition', async () => {
    expect(said(await reset(await askForLink(admin.email), 'onlylettersbutmany'))).toBe('200');
  });

  test('uses the token up, and takes no other', async () => {
    const token = await askForLink(admin.email);
    expect(got(await reset(token, password))).toEqual({ success: true });
    expect(said(await reset(token, password))).toBe('401 INVALID_RESET_TOKEN');
    expect(said(await reset('x'.repeat(43), password))).toBe('401 INVALID_RESET_TOKEN');
  });

  test('ends every session, API key, open link and code of the account, and tells it by mail', async () => {
    const person = await service.register();
    const key = await service.makeKey(person, ['read']);
    const otp = await service.codeFor(person.email);
    const [older, token] = [await askForLink(person.email), await askForLink(person.email)];
    const change = async () => got(await reset(token, password));
    const mail = await mails.causedBy(change, person.email, 'account-notice');
    expect(mail.subject).toBe('Your password was reset');
    const list = `/employee/list/${person.companyId}/`;
    expect(said(await person.get(list))).toBe('401 SESSION_ENDED');
    expect(said(await key.get(list))).toMatch(/^401 /);
    expect(said(await reset(older, password))).toBe('401 INVALID_RESET_TOKEN');
    expect(said(await enter(person.email, otp))).toBe('401 INVALID_OTP');
    expect(said(await (await signIn(person.email)).get(list))).toBe('200');
  });
});

describe('contract 2, PUT /employee/password/{employee_id}/', async () => {
  const person = await service.register();
  const colleague = await service.join(person);
  await service.setPassword(person.email);
  const path = `/employee/password/${person._id}/`;
  const body = (chosen: string, current = password) => ({
    current_password: current,
    new_password: chosen,
    confirm_password: chosen,
  });

  test('asks for the current password', async () => {
    const session = await signIn(person.email);
    expect(said(await session.put(path, body('another good one', 'not it')))).toBe('403 CURRENT_PASSWORD_WRONG');
  });

  test('refuses two that differ, and weak ones', async () => {
    const session = await signIn(person.email);
    const differing = { ...body('another good one'), confirm_password: 'yet another one' };
    expect(said(await session.put(path, differing))).toBe('400 PASSWORD_MISMATCH confirm_password:mismatch');
    for (const weak of ['seven77', 'qwertyuiop', 'zzzzzzzzzz', person.email])
      expect(said(await session.put(path, body(weak)))).toBe('400 PASSWORD_TOO_WEAK new_password:too_weak');
  });

  test('is for oneself', async () => {
    const session = await signIn(person.email);
    expect(said(await session.put(`/employee/password/${colleague._id}/`, body('another good one')))).toMatch(/^403 /);
    expect(said(await session.put('/employee/password/987654321/', body('another good one')))).toBe('404 NOT_FOUND');
  });

  test('ends every other session, open links and codes, keeps this one, and lists in a mail the keys that stay valid', async () => {
    const [session, other] = [await signIn(person.email), await signIn(person.email)];
    const { key } = got(await session.post('/api/api-keys/', { name: 'Nightly report', scopes: ['read'] }));
    const token = await askForLink(person.email);
    const otp = await service.codeFor(person.email);
    const change = async () =>
      expect(got(await session.put(path, body('another good one')))).toEqual({ success: true });
    const mail = await mails.causedBy(change, person.email, 'account-notice');
    expect(mail.subject).toBe('Your password was changed');
    expect(mail.text).toContain('Nightly report');
    const list = `/employee/list/${person.companyId}/`;
    expect([said(await session.get(list)), said(await other.get(list))]).toEqual(['200', '401 SESSION_ENDED']);
    expect(said(await anonymous.get(list, keyHeader(key)))).toBe('200');
    expect(said(await reset(token, password))).toBe('401 INVALID_RESET_TOKEN');
    expect(said(await enter(person.email, otp))).toBe('401 INVALID_OTP');
    expect(said(await anonymous.post('/login/', { email: person.email, password }))).toBe('401 INVALID_CREDENTIALS');
  });

  test('ends the keys as well where revoke_api_keys is true', async () => {
    const session = await signIn(person.email, 'another good one');
    const key = await service.makeKey(session, ['read']);
    const change = { ...body('a third good one', 'another good one'), revoke_api_keys: true };
    expect(said(await session.put(path, change))).toBe('200');
    expect(said(await key.get(`/employee/list/${person.companyId}/`))).toMatch(/^401 /);
  });
});
