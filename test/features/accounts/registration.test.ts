import { describe, expect, test } from 'vitest';
import { errorOf } from '../../support/actor.ts';
import { startService } from '../../support/service.ts';

const service = await startService();
const { anonymous, mailbox } = service;

async function requestCode(email: string): Promise<string> {
  const { status, body } = await anonymous.post('/get-register-otp/', { email });
  expect({ status, body }).toEqual({ status: 200, body: { success: true } });
  await service.drain();
  return mailbox.lastCode(email);
}

const person = { company_name: 'Engines', first_name: 'Ada', last_name: 'Lovelace' };

describe('a registration', () => {
  test('makes the company, its admin and a 30-day trial, and signs the admin in', async () => {
    const otp = await requestCode('Ada@Example.com'.toLowerCase());
    const { status, body } = await anonymous.post('/api/create-company-and-employee/', {
      ...person,
      email: 'ADA@example.com',
      otp,
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      token_type: 'Bearer',
      expires_in: 900,
      employee: { email: 'ada@example.com', name: 'Ada Lovelace', isAdmin: true, isActive: true, is_active: true },
      company: { company_name: 'Engines' },
      subscription: { status: 'trialing', trial: true },
    });
    const days = (Date.parse(body.subscription.endsAt) - Date.parse(body.subscription.startsAt)) / 86_400_000;
    expect(days).toBe(30);
    const sessions = await service.as(body).get('/api/sessions/');
    expect(sessions.body.sessions).toHaveLength(1);
  });

  test('refuses a code the second time, and one that is wrong, without making anything', async () => {
    const otp = await requestCode('once@example.com');
    const wrong = otp === '000000' ? '000001' : '000000';
    const input = { ...person, email: 'once@example.com' };
    expect(errorOf(await anonymous.post('/api/create-company-and-employee/', { ...input, otp: wrong }))).toEqual({
      status: 401,
      code: 'INVALID_OTP',
    });
    expect((await anonymous.post('/api/create-company-and-employee/', { ...input, otp })).status).toBe(200);
    expect(errorOf(await anonymous.post('/api/create-company-and-employee/', { ...input, otp }))).toEqual({
      status: 401,
      code: 'INVALID_OTP',
    });
  });

  test('refuses a code after 10 minutes, and the right code after five wrong ones', async () => {
    const email = 'late@example.com';
    const first = await requestCode(email);
    service.clock.advance({ minutes: 10, seconds: 1 });
    expect(
      errorOf(await anonymous.post('/api/create-company-and-employee/', { ...person, email, otp: first })),
    ).toMatchObject({ code: 'INVALID_OTP' });

    const second = await requestCode(email);
    const wrong = second === '000000' ? '000001' : '000000';
    for (let attempt = 0; attempt < 5; attempt += 1)
      await anonymous.post('/api/create-company-and-employee/', { ...person, email, otp: wrong });
    expect(
      errorOf(await anonymous.post('/api/create-company-and-employee/', { ...person, email, otp: second })),
    ).toMatchObject({ code: 'INVALID_OTP' });
  });

  test('gives one company to 20 who redeem the same code at once', async () => {
    const email = 'race@example.com';
    const otp = await requestCode(email);
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => anonymous.post('/api/create-company-and-employee/', { ...person, email, otp })),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  test('is not answered a second time for the same Idempotency-Key, and makes nothing twice', async () => {
    const email = 'retry@example.com';
    const otp = await requestCode(email);
    const options = { headers: { 'idempotency-key': 'first-try' } };
    const first = await anonymous.post('/api/create-company-and-employee/', { ...person, email, otp }, options);
    const again = await anonymous.post('/api/create-company-and-employee/', { ...person, email, otp }, options);
    expect(first.status).toBe(200);
    expect(errorOf(again)).toEqual({ status: 401, code: 'INVALID_OTP' });
  });

  test('names every field that is wrong', async () => {
    const answer = await anonymous.post('/api/create-company-and-employee/', {
      company_name: ' ',
      email: 'nobody',
      otp: '12',
      first_name: 7,
    });
    expect(errorOf(answer)).toEqual({
      status: 400,
      code: 'VALIDATION_FAILED',
      issues: ['company_name', 'email', 'otp', 'first_name', 'last_name'],
    });
  });
});

describe('a registration code', () => {
  test('is sent five times an hour to one address and not a sixth time', async () => {
    for (let sent = 0; sent < 5; sent += 1) await requestCode('often@example.com');
    const answer = await anonymous.post('/get-register-otp/', { email: 'OFTEN@example.com' });
    expect(errorOf(answer)).toEqual({ status: 429, code: 'RATE_LIMITED' });
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    await service.drain();
    expect(mailbox.to('often@example.com')).toHaveLength(5);
  });

  test('stands in no log line', async () => {
    const code = await requestCode('quiet@example.com');
    expect(service.log()).not.toContain(code);
  });
});
