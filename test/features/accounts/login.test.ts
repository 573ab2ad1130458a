import { describe, expect, test } from 'vitest';
import { errorOf } from '../../support/actor.ts';
import { password, startService } from '../../support/service.ts';

const service = await startService();
const { anonymous } = service;
const ada = await service.registerCompany({ name: 'Engines', email: 'ada@example.com' });
await service.signIn(ada.email);

describe('a password login', () => {
  test('answers a token pair, the employee and the company', async () => {
    const { status, body } = await anonymous.post('/login/', { email: ' ADA@Example.com ', password, remember: true });
    expect(status).toBe(200);
    expect(Object.keys(body).toSorted()).toEqual([
      'access_token',
      'company',
      'employee',
      'expires_in',
      'refresh_token',
      'token_type',
    ]);
    expect(body).toMatchObject({
      expires_in: 900,
      employee: { _id: ada.employeeId },
      company: { company_id: ada.companyId, company_name: 'Engines' },
    });
    expect((await service.as(body).get('/api/sessions/')).status).toBe(200);
  });

  test('gives a wrong password and an unknown address the same bytes', async () => {
    const id = { headers: { 'x-request-id': 'same' } };
    const wrong = await anonymous.post('/login/', { email: ada.email, password: 'not this one' }, id);
    const unknown = await anonymous.post('/login/', { email: 'nobody@example.com', password: 'not this one' }, id);
    expect(errorOf(wrong)).toEqual({ status: 401, code: 'INVALID_CREDENTIALS' });
    expect(unknown.body).toEqual(wrong.body);
  });

  test('refuses an account without a password', async () => {
    const grace = await service.registerCompany({ email: 'grace@example.com' });
    expect(errorOf(await anonymous.post('/login/', { email: grace.email, password }))).toEqual({
      status: 401,
      code: 'INVALID_CREDENTIALS',
    });
  });

  test('refuses a company that the account has no place in, by naming the field', async () => {
    const other = await service.registerCompany({ email: 'other@example.com' });
    const answer = await anonymous.post('/login/', { email: ada.email, password, company_id: other.companyId });
    expect(errorOf(answer)).toEqual({ status: 400, code: 'VALIDATION_FAILED', issues: ['company_id'] });
  });

  test('answers the companies and a ticket, and no token, where the account has several', async () => {
    const first = await service.registerCompany({ name: 'First', email: 'both@example.com' });
    const second = await service.registerCompany({ name: 'Second', email: 'both@example.com' });
    await service.signIn('both@example.com', second.companyId);
    const { status, body } = await anonymous.post('/login/', { email: 'both@example.com', password });
    expect(status).toBe(200);
    expect(body).toEqual({
      companies: [
        { company_id: first.companyId, company_name: 'First', isAdmin: true },
        { company_id: second.companyId, company_name: 'Second', isAdmin: true },
      ],
      login_ticket: expect.stringMatching(/^wlt_/),
      expires_in: 300,
    });
    const chosen = await anonymous.post('/login/', {
      email: 'both@example.com',
      password,
      company_id: first.companyId,
    });
    expect(chosen.body.company).toEqual({ company_id: first.companyId, company_name: 'First' });
  });

  test('closes an address to one network after ten failures, also of failures at once, and to no other address', async () => {
    await service.registerCompany({ email: 'target@example.com' });
    const answers = await Promise.all(
      Array.from({ length: 30 }, () => anonymous.post('/login/', { email: 'target@example.com', password: 'wrong' })),
    );
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
      ...Array<number>(10).fill(401),
      ...Array<number>(20).fill(429),
    ]);
    const closed = await anonymous.post('/login/', { email: 'Target@example.com', password });
    expect(errorOf(closed)).toEqual({ status: 429, code: 'RATE_LIMITED' });
    expect(Number(closed.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await anonymous.post('/login/', { email: ada.email, password })).status).toBe(200);
  });

  test('lets forty honest sign-ins at once through', async () => {
    const answers = await Promise.all(
      Array.from({ length: 40 }, () => anonymous.post('/login/', { email: ada.email, password })),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array<number>(40).fill(200));
  });

  test('leaves the password in no log line', () => {
    expect(service.log()).not.toContain(password);
    expect(service.log()).not.toContain(ada.pair.access_token);
    expect(service.log()).not.toContain(ada.pair.refresh_token);
  });
});
