import { describe, expect, test } from 'vitest';
import { errorOf } from '../../support/actor.ts';
import { password, squat, startService } from '../../support/service.ts';

const service = await startService();
const { anonymous, mailbox, clock } = service;

async function requestCode(email: string): Promise<string> {
  expect(await anonymous.post('/verify-email/', { email })).toMatchObject({ status: 200, body: { success: true } });
  await service.drain();
  return mailbox.lastCode(email);
}
const other = (code: string) => (code === '000000' ? '000001' : '000000');

describe('a code login', () => {
  test('signs an employee in, once', async () => {
    const admin = await service.registerCompany({ email: 'ada@example.com' });
    const otp = await requestCode('ada@example.com');
    const { status, body } = await anonymous.post('/otp-login/', { email: 'Ada@example.com', otp });
    expect(status).toBe(200);
    expect(body.employee._id).toBe(admin.employeeId);
    expect(errorOf(await anonymous.post('/otp-login/', { email: 'ada@example.com', otp }))).toEqual({
      status: 401,
      code: 'INVALID_OTP',
    });
  });

  test('proves the address of an invited employee, and drops what somebody else had set up', async () => {
    const admin = await service.registerCompany();
    const squatter = await squat(service, 'invited@example.com');
    const added = await admin.post('/employee/add/', {
      first_name: 'Grace',
      last_name: 'Hopper',
      email: 'invited@example.com',
      companyId: admin.companyId,
    });
    const { body } = await anonymous.post('/otp-login/', {
      email: 'invited@example.com',
      otp: await requestCode('invited@example.com'),
    });
    expect(body.employee).toMatchObject({ _id: added.body._id, invitationStatus: 'accepted' });
    expect(errorOf(await squatter.get('/api/sessions/'))).toEqual({ status: 401, code: 'SESSION_ENDED' });
    expect(errorOf(await anonymous.post('/login/', { email: 'invited@example.com', password }))).toMatchObject({
      status: 401,
    });
  });

  test('answers the companies where there are several, and the ticket signs in to the chosen one, once', async () => {
    const first = await service.registerCompany({ name: 'First', email: 'both@example.com' });
    const second = await service.registerCompany({ name: 'Second', email: 'both@example.com' });
    const { body } = await anonymous.post('/otp-login/', {
      email: 'both@example.com',
      otp: await requestCode('both@example.com'),
    });
    expect(body.companies.map((company: { company_id: number }) => company.company_id)).toEqual([
      first.companyId,
      second.companyId,
    ]);
    expect(body).not.toHaveProperty('access_token');
    const choice = { email: 'both@example.com', company_id: second.companyId, company_name: 'Second', isAdmin: true };
    const proof = { headers: { authorization: `Bearer ${body.login_ticket}` } };
    const chosen = await anonymous.post('/token-login/', choice, proof);
    expect(chosen.body).toMatchObject({
      company: { company_id: second.companyId },
      employee: { _id: second.employeeId },
    });
    expect(errorOf(await anonymous.post('/token-login/', choice, proof))).toEqual({
      status: 401,
      code: 'PROOF_REQUIRED',
    });
  });

  test('with a company that is not theirs is refused by naming it, and leaves the code unused', async () => {
    const admin = await service.registerCompany({ email: 'wrong-company@example.com' });
    const foreign = await service.registerCompany();
    const otp = await requestCode(admin.email);
    const answer = await anonymous.post('/otp-login/', { email: admin.email, otp, company_id: foreign.companyId });
    expect(errorOf(answer)).toEqual({ status: 400, code: 'VALIDATION_FAILED', issues: ['company_id'] });
    expect((await anonymous.post('/otp-login/', { email: admin.email, otp, company_id: admin.companyId })).status).toBe(
      200,
    );
  });

  test('refuses a code of a registration, of another address, and an older one', async () => {
    const admin = await service.registerCompany({ email: 'purpose@example.com' });
    await anonymous.post('/get-register-otp/', { email: admin.email });
    await service.drain();
    const registration = mailbox.lastCode(admin.email);
    expect(errorOf(await anonymous.post('/otp-login/', { email: admin.email, otp: registration }))).toEqual({
      status: 401,
      code: 'INVALID_OTP',
    });
    const older = await requestCode(admin.email);
    const newer = await requestCode(admin.email);
    expect(errorOf(await anonymous.post('/otp-login/', { email: admin.email, otp: older }))).toMatchObject({
      code: 'INVALID_OTP',
    });
    expect((await anonymous.post('/otp-login/', { email: admin.email, otp: newer })).status).toBe(200);
  });

  test('sends an unknown address nothing, and answers the same', async () => {
    const known = await anonymous.post('/verify-email/', { email: 'ada@example.com' });
    const unknown = await anonymous.post('/verify-email/', { email: 'stranger@example.com' });
    expect(unknown.body).toEqual(known.body);
    await service.drain();
    expect(mailbox.to('stranger@example.com')).toEqual([]);
  });

  test('tries at most five of 200 wrong codes at once, and the right one no more', async () => {
    const admin = await service.registerCompany({ email: 'flood@example.com' });
    const otp = await requestCode(admin.email);
    const answers = await Promise.all(
      Array.from({ length: 200 }, () => anonymous.post('/otp-login/', { email: admin.email, otp: other(otp) })),
    );
    expect(answers.every(({ status }) => status === 401 || status === 429)).toBe(true);
    const row = await service.database.db
      .selectFrom('one_time_codes')
      .where('email', '=', admin.email)
      .where('purpose', '=', 'login')
      .selectAll()
      .executeTakeFirstOrThrow();
    expect(row.wrong_tries).toBe(5);
    const late = await anonymous.post('/otp-login/', { email: admin.email, otp });
    expect([401, 429]).toContain(late.status);
  });

  test('takes no more than 20 wrong tries a day for one address, over all its codes', async () => {
    const admin = await service.addEmployee(await service.registerCompany());
    for (let round = 0; round < 4; round += 1) {
      const otp = await requestCode(admin.email);
      for (let attempt = 0; attempt < 5; attempt += 1)
        await anonymous.post('/otp-login/', { email: admin.email, otp: other(otp) });
    }
    // The fifth code of the hour was asked for here: it is for this network, once.
    const otp = await requestCode(admin.email);
    expect((await anonymous.post('/otp-login/', { email: admin.email, otp })).status).toBe(200);
  });

  test('lets the owner in by the next code, however often the one before was sent at once', async () => {
    const admin = await service.addEmployee(await service.registerCompany());
    const enter = (otp: string) => anonymous.post('/otp-login/', { email: admin.email, otp });
    const used = await requestCode(admin.email);
    const answers = await Promise.all(Array.from({ length: 64 }, () => enter(used)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect((await enter(await requestCode(admin.email))).status).toBe(200);
  });
});

describe('a token login', () => {
  test('is refused without a proof, with an unknown ticket, and with an expired one', async () => {
    const admin = await service.registerCompany({ email: 'proofless@example.com' });
    const claim = { email: admin.email, company_id: admin.companyId };
    expect(errorOf(await anonymous.post('/token-login/', claim))).toEqual({ status: 401, code: 'PROOF_REQUIRED' });
    const invented = { headers: { authorization: `Bearer wlt_${'x'.repeat(43)}` } };
    expect(errorOf(await anonymous.post('/token-login/', claim, invented))).toEqual({
      status: 401,
      code: 'PROOF_REQUIRED',
    });
    await service.registerCompany({ email: admin.email });
    const { body } = await anonymous.post('/otp-login/', { email: admin.email, otp: await requestCode(admin.email) });
    clock.advance({ minutes: 5, seconds: 1 });
    const expired = { headers: { authorization: `Bearer ${body.login_ticket}` } };
    expect(errorOf(await anonymous.post('/token-login/', claim, expired))).toEqual({
      status: 401,
      code: 'PROOF_REQUIRED',
    });
  });

  test('with a session changes company, for the address of that account only', async () => {
    const first = await service.registerCompany({ email: 'changer@example.com' });
    const second = await service.registerCompany({ email: 'changer@example.com' });
    const victim = await service.registerCompany({ email: 'victim@example.com' });
    expect(errorOf(await first.post('/token-login/', { email: victim.email, company_id: victim.companyId }))).toEqual({
      status: 401,
      code: 'PROOF_REQUIRED',
    });
    expect(
      errorOf(await first.post('/token-login/', { email: first.email, company_id: victim.companyId })),
    ).toMatchObject({ status: 400, issues: ['company_id'] });
    const moved = await first.post('/token-login/', { email: first.email, company_id: second.companyId });
    expect(moved.body.employee._id).toBe(second.employeeId);
    expect(errorOf(await first.get('/api/sessions/'))).toEqual({ status: 401, code: 'SESSION_ENDED' });
  });

  test('with a session of twenty requests at once opens one', async () => {
    const first = await service.registerCompany({ email: 'twenty@example.com' });
    const second = await service.registerCompany({ email: 'twenty@example.com' });
    const claim = { email: first.email, company_id: second.companyId };
    const answers = await Promise.all(Array.from({ length: 20 }, () => first.post('/token-login/', claim)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  test('checks the name of the company and the admin role', async () => {
    const admin = await service.registerCompany({ name: 'Engines', email: 'role@example.com' });
    const employee = await service.addEmployee(admin);
    const claim = { email: employee.email, company_id: admin.companyId };
    expect(errorOf(await employee.post('/token-login/', { ...claim, company_name: 'Other' }))).toMatchObject({
      status: 400,
      issues: ['company_name'],
    });
    expect(errorOf(await employee.post('/token-login/', { ...claim, isAdmin: true }))).toEqual({
      status: 403,
      code: 'ADMIN_REQUIRED',
    });
    expect((await employee.post('/token-login/', { ...claim, company_name: 'Engines', isAdmin: false })).status).toBe(
      200,
    );
  });

  test('with an API key of scope login signs in employees of that company and of no other', async () => {
    const admin = await service.registerCompany();
    const employee = await service.addEmployee(admin);
    const foreign = await service.registerCompany();
    const { body } = await admin.post('/api/api-keys/', { name: 'SSO', scopes: ['login'] });
    const reader = await admin.post('/api/api-keys/', { name: 'Reader', scopes: ['read'] });
    const proof = (key: string) => ({ headers: { authorization: `Bearer ${key}` } });
    const claim = { email: employee.email, company_id: admin.companyId };
    expect((await anonymous.post('/token-login/', claim, proof(body.key))).body.employee._id).toBe(employee.employeeId);
    expect(errorOf(await anonymous.post('/token-login/', claim, proof(reader.body.key)))).toEqual({
      status: 403,
      code: 'SCOPE_REQUIRED',
    });
    const abroad = { email: foreign.email, company_id: foreign.companyId };
    expect(errorOf(await anonymous.post('/token-login/', abroad, proof(body.key)))).toMatchObject({
      status: 400,
      issues: ['company_id'],
    });
    expect(
      errorOf(await anonymous.post('/token-login/', { ...claim, email: foreign.email }, proof(body.key))),
    ).toMatchObject({ status: 400, issues: ['email'] });
  });

  test('gives one session to 64 who redeem the same ticket at once', async () => {
    await service.registerCompany({ email: 'ticket@example.com' });
    const company = await service.registerCompany({ email: 'ticket@example.com' });
    const { body } = await anonymous.post('/otp-login/', {
      email: 'ticket@example.com',
      otp: await requestCode('ticket@example.com'),
    });
    const proof = { headers: { authorization: `Bearer ${body.login_ticket}` } };
    const claim = { email: 'ticket@example.com', company_id: company.companyId };
    const answers = await Promise.all(Array.from({ length: 64 }, () => anonymous.post('/token-login/', claim, proof)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  });
});
