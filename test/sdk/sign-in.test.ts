import { describe, expect, test, vi } from 'vitest';
import { isCompanyChoice, type ClientSession, type SessionChange } from 'work-management-client';
import { createIdentityProvider } from '../../server/platform/identity-provider.ts';
import { startIssuer } from '../support/issuer.ts';
import { password, startService } from '../support/service.ts';
import { codeOf, connect, errorOf, sessionOf } from './clients.ts';
import { startWiretap } from './wiretap.ts';

const google = await startIssuer(() => service.clock.now());
const apple = await startIssuer(() => service.clock.now());
const providerOf = ({ issuer, audience, jwksUrl }: typeof google) => ({ issuer, audiences: [audience], jwksUrl });
const service = await startService({
  identityProviders: (clock) => ({
    google: createIdentityProvider(providerOf(google), clock),
    apple: createIdentityProvider(providerOf(apple), clock),
  }),
});
const { url, mailbox } = service;
const admin = await service.registerCompany();
await service.signIn(admin.email);

const here = { _id: admin.employeeId, email: admin.email, isAdmin: true };

describe('signing in', () => {
  test('by password begins a session, hands it out to be kept, and proves who is calling from then on', async () => {
    const onSession = vi.fn<(session: ClientSession | null, change: SessionChange) => void>();
    const client = connect(url, { onSession });
    expect(client.session).toBeNull();
    const answer = await client.auth.login({ email: admin.email, password });
    expect(answer).toMatchObject({ token_type: 'Bearer', employee: here });
    expect(client.session).toMatchObject({ employee: here, company: { company_id: admin.companyId }, rotation: 0 });
    expect(onSession.mock.calls).toEqual([[client.session, 'signed in']]);
    // What only admins see is nothing to keep in a browser.
    expect(client.session!.employee).not.toHaveProperty('salary');
    expect((await client.employees.get({ employee_id: admin.employeeId })).email).toBe(admin.email);
  });

  test('by a wrong password is refused by its name, and begins nothing', async () => {
    const onSession = vi.fn<() => void>();
    const client = connect(url, { onSession });
    const error = await errorOf(client.auth.login({ email: admin.email, password: 'wrong' }));
    expect(error).toMatchObject({ code: 'INVALID_CREDENTIALS', status: 401, operation: 'auth.login', issues: [] });
    expect(error.requestId).toMatch(/\S/);
    expect(client.session).toBeNull();
    expect(onSession).not.toHaveBeenCalled();
  });

  test('by an e-mailed code', async () => {
    const client = connect(url);
    await client.auth.verifyEmail({ email: admin.email });
    await service.drain();
    await client.auth.otpLogin({ email: admin.email, otp: mailbox.lastCode(admin.email) });
    expect(client.session).toMatchObject({ employee: here });
  });

  test.each(['googleLogin', 'appleLogin'] as const)('by an identity token: %s', async (method) => {
    const client = connect(url);
    const issuer = method === 'googleLogin' ? google : apple;
    await client.auth[method]({ token: await issuer.sign({ subject: method, email: admin.email }) });
    expect(client.session).toMatchObject({ employee: here });
    expect(await codeOf(connect(url).auth[method]({ token: 'none' }))).toBe('INVALID_IDENTITY_TOKEN');
  });

  test('by registering a company', async () => {
    const client = connect(url);
    const email = 'founder@example.com';
    await client.registration.requestCode({ email });
    await service.drain();
    const answer = await client.registration.registerCompany({
      company_name: 'Compilers',
      email,
      otp: mailbox.lastCode(email),
      first_name: 'Grace',
      last_name: 'Hopper',
    });
    expect(answer.subscription.trial).toBe(true);
    expect(client.session).toMatchObject({ company: { company_name: 'Compilers' }, employee: { isAdmin: true } });
    expect((await client.company.get({ company_id: client.session!.company!.company_id })).plans).not.toEqual([]);
  });
});

describe('an account of several companies', async () => {
  const email = 'both@example.com';
  const first = await service.registerCompany({ name: 'First', email });
  const second = await service.registerCompany({ name: 'Second', email });
  await service.signIn(email, first.companyId);

  test('chooses one, and no session begins before', async () => {
    const client = connect(url);
    const answer = await client.auth.login({ email, password });
    if (!isCompanyChoice(answer)) throw new Error('there was nothing to choose');
    expect(answer.companies.map(({ company_name }) => company_name)).toEqual(['First', 'Second']);
    expect(client.session).toBeNull();
    const chosen = await client.chooseCompany(answer, { email, company_id: second.companyId });
    expect(isCompanyChoice(chosen)).toBe(false);
    expect(client.session).toMatchObject({ company: { company_id: second.companyId, company_name: 'Second' } });
    expect(await codeOf(client.chooseCompany(answer, { email, company_id: first.companyId }))).toBe('PROOF_REQUIRED');
    expect(client.session).toMatchObject({ company: { company_id: second.companyId } });
  });

  test('can say it at once, and change company with its session', async () => {
    const client = connect(url);
    await client.auth.login({ email, password, company_id: first.companyId });
    const { id } = client.session!;
    await client.auth.tokenLogin({ email, company_id: second.companyId });
    expect(client.session).toMatchObject({ company: { company_id: second.companyId } });
    expect(client.session!.id).not.toBe(id);
    expect((await client.employees.get({ employee_id: second.employeeId })).email).toBe(email);
  });
});

describe('an API key', () => {
  test('calls as who made it; a session that it opens for somebody is answered and not taken over', async () => {
    const colleague = await service.addEmployee(admin);
    const { key } = await connect(url, { session: sessionOf(admin.pair) }).apiKeys.create({
      name: 'Portal',
      scopes: ['read', 'login'],
    });
    const onSession = vi.fn<() => void>();
    const portal = connect(url, { apiKey: key, onSession });
    expect((await portal.employees.get({ employee_id: admin.employeeId })).email).toBe(admin.email);
    const opened = await portal.auth.tokenLogin({ email: colleague.email, company_id: admin.companyId });
    expect(opened.employee!._id).toBe(colleague.employeeId);
    expect(portal.session).toBeNull();
    expect(onSession).not.toHaveBeenCalled();
    expect(await codeOf(portal.projects.create({ name: 'x' }))).toBe('SCOPE_REQUIRED');
  });
});

describe('logging out', () => {
  test('ends the session here and on the service, and says so once', async () => {
    const changes: SessionChange[] = [];
    const client = connect(url, { onSession: (_, change) => void changes.push(change) });
    await client.auth.login({ email: admin.email, password });
    const { accessToken: access_token, refreshToken: refresh_token } = client.session!;
    expect(await client.auth.logout()).toEqual({ success: true });
    expect(client.session).toBeNull();
    expect(changes).toEqual(['signed in', 'signed out']);
    expect((await service.as({ access_token, refresh_token }).get('/api/sessions/')).status).toBe(401);
    expect(await codeOf(client.sessions.list())).toBe('UNAUTHENTICATED');
  });

  test('of a session that is over already is no failure', async () => {
    const client = connect(url);
    await client.auth.login({ email: admin.email, password });
    const { accessToken: access_token, refreshToken: refresh_token } = client.session!;
    await service.as({ access_token, refresh_token }).post('/logout/');
    expect(await client.auth.logout()).toEqual({ success: true });
    expect(client.session).toBeNull();
  });

  test('with tokens that are no good is no failure, and without any is one', async () => {
    const client = connect(url, { session: { accessToken: 'a.b.c', refreshToken: 'd.e.f' } });
    expect(await client.auth.logout()).toEqual({ success: true });
    expect(client.session).toBeNull();
    expect(await codeOf(client.auth.logout())).toBe('UNAUTHENTICATED');
  });

  test('that does not reach the service keeps the session, to be tried again', async () => {
    const line = await startWiretap(url);
    const client = connect(line.url, { retries: 0 });
    await client.auth.login({ email: admin.email, password });
    line.loseAnswers(1);
    expect(await codeOf(client.auth.logout())).toBe('NETWORK_ERROR');
    expect(client.session).not.toBeNull();
    expect(await client.auth.logout()).toEqual({ success: true });
    expect(client.session).toBeNull();
  });
});
