import { describe, expect, onTestFinished, test } from 'vitest';
import { generateKeys } from '../../../server/platform/signing-keys.ts';
import { createTokens } from '../../../server/platform/tokens.ts';
import { createCaller, errorOf } from '../../support/actor.ts';
import { callerWithKey } from '../../support/api-key.ts';
import { overEvents, overWebSocket } from '../../support/listener.ts';
import {
  authenticateAt,
  consent,
  defaultScopes,
  grantTo,
  isAccepted,
  newVerifier,
  postForm,
  redirectUri,
  refresh,
  registerClient,
} from '../../support/oauth.ts';
import { keys, password, startService } from '../../support/service.ts';

/* What a client gets, how long it keeps it, and what ends it. */

const service = await startService();
const admin = await service.registerCompany();
const employee = await service.addEmployee(admin);
const token = (form: Record<string, string | undefined> | string) => postForm(service, '/oauth/token', form);
const refused = (error: string) => ({ status: 400, error });
const errorIn = ({ status, body }: { status: number; body: { error: string } }) => ({ status, error: body.error });

const keysOf = async (actor = employee) => (await actor.get('/api/api-keys/')).body.keys;

describe('a code', () => {
  test('is exchanged for tokens that act as the person, within the scopes that they chose', async () => {
    const clientId = await registerClient(service);
    const answer = await token(await consent(employee, clientId));
    expect(answer.status).toBe(200);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.body).toEqual({
      access_token: expect.stringMatching(/^wmso_[\w-]{49}$/),
      token_type: 'Bearer',
      expires_in: 900,
      refresh_token: expect.stringMatching(/^wmsr_[\w-]{71}$/),
      scope: 'time:read time:write',
    });
    expect(await authenticateAt(service, answer.body.access_token)).toMatchObject({
      credential: { kind: 'apiKey', scopes: defaultScopes },
      membership: { companyId: admin.companyId, employeeId: employee.employeeId, isAdmin: false },
    });
  });

  test('is refused with another verifier, client, redirect URI or resource, and still good for its own', async () => {
    const clientId = await registerClient(service);
    const form = await consent(employee, clientId);
    const { code_verifier } = newVerifier();
    for (const [other, error] of [
      [{ code_verifier }, 'invalid_grant'],
      [{ code_verifier: undefined }, 'invalid_request'],
      [{ client_id: await registerClient(service) }, 'invalid_grant'],
      [{ client_id: 'wmsc_unknown' }, 'invalid_client'],
      [{ client_id: undefined }, 'invalid_request'],
      [{ redirect_uri: `${redirectUri}/` }, 'invalid_grant'],
      [{ redirect_uri: undefined }, 'invalid_request'],
      [{ resource: 'https://api.example.test/' }, 'invalid_target'],
      [{ code: `${form['code']!.slice(0, -1)}_` }, 'invalid_grant'],
      [{ code: undefined }, 'invalid_request'],
      [{ grant_type: 'password' }, 'unsupported_grant_type'],
      [{ grant_type: undefined }, 'invalid_request'],
    ] as const)
      expect({ other, ...errorIn(await token({ ...form, ...other })) }).toEqual({ other, ...refused(error) });
    const twice = `${new URLSearchParams(form).toString()}&code=${form['code']}`;
    expect(errorIn(await token(twice))).toEqual(refused('invalid_request'));
    expect((await token({ ...form, resource: 'https://api.example.test/mcp' })).status).toBe(200);
  });

  test('is good for a minute', async () => {
    const form = await consent(employee, await registerClient(service));
    service.clock.advance({ seconds: 61 });
    expect(errorIn(await token(form))).toEqual(refused('invalid_grant'));
  });

  test('that is used again ends what it gave', async () => {
    const clientId = await registerClient(service);
    const form = await consent(employee, clientId);
    const { body } = await token(form);
    expect(await isAccepted(service, body.access_token)).toBe(true);
    expect(errorIn(await token(form))).toEqual(refused('invalid_grant'));
    expect(await isAccepted(service, body.access_token)).toBe(false);
    expect(errorIn(await refresh(service, { ...body, clientId }))).toEqual(refused('invalid_grant'));
  });

  test('that is known without its verifier ends nothing', async () => {
    const form = await consent(employee, await registerClient(service));
    const { body } = await token(form);
    expect(errorIn(await token({ ...form, ...newVerifier() }))).toEqual(refused('invalid_grant'));
    expect(await isAccepted(service, body.access_token)).toBe(true);
  });

  test('that is exchanged 64 times at once gives tokens once, and ends them', async () => {
    const form = await consent(employee, await registerClient(service));
    const answers = await Promise.all(Array.from({ length: 64 }, () => token(form)));
    const won = answers.filter(({ status }) => status === 200);
    expect(won).toHaveLength(1);
    expect(answers.filter(({ body }) => body.error === 'invalid_grant')).toHaveLength(63);
    expect(await isAccepted(service, won[0]!.body.access_token)).toBe(false);
  });
});

describe('a form', () => {
  test.each(['application/json', 'text/plain', 'application/x-www-form-urlencoded; charset=iso-8859-1'])(
    'is what the endpoint says that it takes, where a body is %s',
    async (type) => {
      const form = await consent(employee, await registerClient(service));
      const sent = { method: 'POST', headers: { 'content-type': type }, body: JSON.stringify(form) };
      const response = await fetch(`${service.url}/oauth/token`, sent);
      const body = (await response.json()) as { error: string; error_description: string };
      expect(errorIn({ status: response.status, body })).toEqual(refused('invalid_request'));
      expect(body.error_description).toContain('application/x-www-form-urlencoded');
      expect((await token(form)).status).toBe(200);
    },
  );

  test('with a NUL character in any parameter is refused, and takes nothing', async () => {
    const clientId = await registerClient(service);
    const exchange = await consent(employee, clientId);
    const given = { resource: 'https://api.example.test/mcp', scope: 'time:read' };
    const renewal = { grant_type: 'refresh_token', client_id: clientId, refresh_token: 'x' };
    const forms: [string, Record<string, string>][] = [
      ['/oauth/token', { ...exchange, ...given }],
      ['/oauth/token', { ...renewal, ...given }],
      ['/oauth/revoke', { client_id: clientId, token: 'x', token_type_hint: 'access_token' }],
    ];
    for (const [path, form] of forms)
      for (const name of Object.keys(form))
        for (const value of ['\0', `${form[name]}\0`]) {
          const answer = await postForm(service, path, { ...form, [name]: value });
          expect({ path, name, ...errorIn(answer) }).toEqual({ path, name, ...refused('invalid_request') });
        }
    expect((await token(exchange)).status).toBe(200);
  });
});

describe('an access token', () => {
  test('is refused everywhere but at /mcp', async () => {
    const { access_token: bearer } = await grantTo(service, admin, ['read', 'write']);
    const caller = callerWithKey(service.url, bearer);
    const wrong = { status: 401, code: 'INVALID_TOKEN' };
    expect(errorOf(await caller.get('/api/api-keys/current/'))).toEqual(wrong);
    expect(errorOf(await caller.post('/api/projects/', { name: 'Engine' }))).toEqual(wrong);
    expect(errorOf(await caller.post('/token-login/', { email: admin.email, company_id: admin.companyId }))).toEqual(
      wrong,
    );
    const headers = { authorization: `Bearer ${bearer}` };
    const trpc = await createCaller(service.url).get('/trpc/apiKeys.getCurrent', { headers });
    expect([trpc.status, trpc.body.error.data.code]).toEqual([401, 'INVALID_TOKEN']);
    for (const way of [overWebSocket(service.url, { apiKey: bearer }), overEvents(service.url, { apiKey: bearer })]) {
      const listener = await way.listen('notifications.onMine');
      expect(listener.errorCode()).toMatch(/INVALID_TOKEN|401/);
      await way.close();
    }
    expect(await isAccepted(service, bearer)).toBe(true);
    for (const transport of ['rest', 'trpc'] as const)
      await expect(authenticateAt(service, bearer, transport)).rejects.toThrow('is for /mcp alone');
  });

  test('lives for a quarter of an hour', async () => {
    const grant = await grantTo(service, employee);
    service.clock.advance({ minutes: 14 });
    expect(await isAccepted(service, grant.access_token)).toBe(true);
    service.clock.advance({ minutes: 1, seconds: 1 });
    expect(await isAccepted(service, grant.access_token)).toBe(false);
    expect((await refresh(service, grant)).status).toBe(200);
  });

  test('has the admin rights of its person only with the scope for that', async () => {
    const narrow = await grantTo(service, admin, ['people:read']);
    const wide = await grantTo(service, admin, ['people:read', 'admin']);
    const scopesOf = async (bearer: string) => (await authenticateAt(service, bearer)).credential;
    expect(await scopesOf(narrow.access_token)).toMatchObject({ scopes: ['people:read'] });
    expect(await scopesOf(wide.access_token)).toMatchObject({ scopes: ['people:read', 'admin'] });
  });
});

describe('a refresh token', () => {
  test('is replaced at each use, with the access token', async () => {
    const first = await grantTo(service, employee);
    const { body: second } = await refresh(service, first);
    expect(second.refresh_token).not.toBe(first.refresh_token);
    expect(second).toMatchObject({ expires_in: 900, scope: first.scope, token_type: 'Bearer' });
    expect(await isAccepted(service, first.access_token)).toBe(false);
    expect(await isAccepted(service, second.access_token)).toBe(true);
  });

  test('is answered the same again within ten seconds, for an answer that was lost', async () => {
    const first = await grantTo(service, employee);
    const { body: second } = await refresh(service, first);
    service.clock.advance({ seconds: 7 });
    const { body: again } = await refresh(service, first);
    expect(again).toEqual({ ...second, expires_in: expect.any(Number) });
    expect(again.expires_in).toBeLessThanOrEqual(893);
    expect(await isAccepted(service, second.access_token)).toBe(true);
    expect((await refresh(service, { ...first, ...second })).status).toBe(200);
  });

  test('is answered the same again by a node that signs with another key already', async () => {
    const { services } = service.app;
    const { tokens } = services;
    onTestFinished(() => void Object.assign(services, { tokens }));
    const [old, fresh] = [await keys, await generateKeys()].map((set) => JSON.parse(set).keys[0]);
    const first = await grantTo(service, employee);
    const { body: second } = await refresh(service, first);
    // One that does not know the old key at all can only refuse, and ends nothing.
    Object.assign(services, { tokens: await createTokens(JSON.stringify({ keys: [fresh] })) });
    expect(errorIn(await refresh(service, first))).toEqual(refused('invalid_grant'));
    Object.assign(services, { tokens: await createTokens(JSON.stringify({ keys: [fresh, old] })) });
    const { body: again } = await refresh(service, first);
    expect(again).toEqual({ ...second, expires_in: expect.any(Number) });
    expect((await refresh(service, { ...first, ...again })).status).toBe(200);
  });

  test('gives one successor to many uses at once', async () => {
    const first = await grantTo(service, employee);
    const answers = await Promise.all(Array.from({ length: 16 }, () => refresh(service, first)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(answers.map(({ body }) => body.refresh_token)).size).toBe(1);
    expect(await isAccepted(service, answers[0]!.body.access_token)).toBe(true);
  });

  test.each([
    ['after ten seconds', { seconds: 11 }, 1],
    ['after its successor was used', {}, 2],
  ])('that is used again %s ends the grant', async (_, later, uses) => {
    const first = await grantTo(service, employee);
    let last = first;
    for (let use = 0; use < uses; use += 1) last = { ...first, ...(await refresh(service, last)).body };
    service.clock.advance(later);
    expect(errorIn(await refresh(service, first))).toEqual(refused('invalid_grant'));
    expect(await isAccepted(service, last.access_token)).toBe(false);
    expect(errorIn(await refresh(service, last))).toEqual(refused('invalid_grant'));
    expect(service.log()).toContain('a refresh token of it was used again');
  });

  test('that was made up for a known family ends nothing without knowing one, and is refused', async () => {
    const grant = await grantTo(service, employee);
    for (const wrong of ['', 'wmsr_', grant.access_token, grant.refresh_token.slice(0, -1), `wmsr_${'A'.repeat(71)}`])
      expect((await refresh(service, { ...grant, refresh_token: wrong })).status).toBe(400);
    const other = await grantTo(service, employee);
    expect(errorIn(await refresh(service, { ...grant, clientId: other.clientId }))).toEqual(refused('invalid_grant'));
    expect((await refresh(service, grant)).status).toBe(200);
  });

  test('adds no scope', async () => {
    const grant = await grantTo(service, employee);
    expect(errorIn(await refresh(service, grant, { scope: 'time:read people:read' }))).toEqual(
      refused('invalid_scope'),
    );
    expect((await refresh(service, grant, { scope: 'time:read' })).body.scope).toBe('time:read time:write');
  });
});

describe('a grant', () => {
  test('is listed among the keys, once its client has it, and ends when it is deleted there', async () => {
    const person = await service.addEmployee(admin);
    const clientId = await registerClient(service);
    const form = await consent(person, clientId);
    expect(await keysOf(person)).toEqual([]);
    const { body } = await token(form);
    const [key] = await keysOf(person);
    const client = { client_id: clientId, name: 'Planner' };
    expect(key).toMatchObject({ name: 'Planner', client, start: 'wmso_', scopes: defaultScopes, lastUsedAt: null });
    expect(JSON.stringify(key)).not.toContain(body.access_token);
    const access = await admin.get(`/api/employees/${person.employeeId}/access/`);
    expect(access.body.keys).toEqual([key]);
    const made = await person.post('/api/api-keys/', { name: 'Script', scopes: ['read'] });
    expect(made.body.client).toBeNull();

    const outsider = await service.registerCompany();
    expect(errorOf(await outsider.delete(`/api/api-keys/${key._id}/`))).toEqual({ status: 404, code: 'NOT_FOUND' });
    expect(await isAccepted(service, body.access_token)).toBe(true);
    expect((await person.delete(`/api/api-keys/${key._id}/`)).status).toBe(200);
    expect(await isAccepted(service, body.access_token)).toBe(false);
    expect(errorIn(await refresh(service, { ...body, clientId }))).toEqual(refused('invalid_grant'));
  });

  test('ends with the employee, and stays ended when they come back', async () => {
    const leaver = await service.addEmployee(admin);
    const grant = await grantTo(service, leaver);
    const pending = await consent(leaver, await registerClient(service));
    await admin.patch(`/api/employees/${leaver.employeeId}/`, { is_active: false });
    await admin.patch(`/api/employees/${leaver.employeeId}/`, { is_active: true });
    expect(await isAccepted(service, grant.access_token)).toBe(false);
    expect(errorIn(await refresh(service, grant))).toEqual(refused('invalid_grant'));
    expect(errorIn(await token(pending))).toEqual(refused('invalid_grant'));
  });

  test('ends with a reset of the password, and with a change of it only where keys are to end', async () => {
    const person = await service.addEmployee(admin);
    const grant = await grantTo(service, person);
    const change = (current_password: string, new_password: string, more: object) =>
      person.put(`/employee/password/${person.employeeId}/`, {
        current_password,
        new_password,
        confirm_password: new_password,
        ...more,
      });
    const next = 'another good horse';
    expect((await change(password, next, {})).status).toBe(200);
    expect(await isAccepted(service, grant.access_token)).toBe(true);
    expect((await change(next, 'a third good horse', { revoke_api_keys: true })).status).toBe(200);
    expect(await isAccepted(service, grant.access_token)).toBe(false);

    const again = await grantTo(service, person);
    await service.anonymous.post('/reset/link/', { email: person.email });
    await service.drain();
    const [, resetToken] = /token=([\w-]+)/.exec(service.mailbox.to(person.email).at(-1)!.text)!;
    const reset = { token: resetToken, new_password: next, confirm_password: next };
    expect((await service.anonymous.post('/reset/verify/', reset)).status).toBe(200);
    expect(await isAccepted(service, again.access_token)).toBe(false);
  });

  test('is in the audit log and in the mail of its person when it is given, and in the log when its client ends it', async () => {
    const grant = await grantTo(service, employee);
    await service.drain();
    const mail = service.mailbox.to(employee.email).at(-1)!;
    expect(mail.subject).toBe('You let a program act as you');
    expect(mail.text).toContain('“Planner”');
    const [{ _id }] = await keysOf();
    await postForm(service, '/oauth/revoke', { token: grant.refresh_token, client_id: grant.clientId });
    const rows = await service.database.db
      .selectFrom('audit_log')
      .where('subject_kind', '=', 'api_key')
      .where('subject_id', '=', _id)
      .select(['operation', 'transport', 'employee_id', 'api_key_id', 'network', 'result'])
      .orderBy('audit_id')
      .execute();
    expect(rows).toMatchObject([
      { operation: 'oauth.authorizeClient', transport: 'rest', employee_id: employee.employeeId, api_key_id: null },
      { operation: 'oauth.revoke', transport: 'rest', api_key_id: _id, network: '127.0.0.1', result: 'done' },
    ]);
  });

  test.each(['access_token', 'refresh_token'] as const)('ends when its client revokes the %s', async (kind) => {
    const grant = await grantTo(service, employee);
    const other = await registerClient(service);
    const revoke = (form: Record<string, string | undefined>) => postForm(service, '/oauth/revoke', form);
    expect(errorIn(await revoke({ token: grant[kind], client_id: other }))).toEqual(refused('invalid_grant'));
    expect(errorIn(await revoke({ token: grant[kind] }))).toEqual(refused('invalid_request'));
    expect(await isAccepted(service, grant.access_token)).toBe(true);
    expect((await revoke({ token: grant[kind], client_id: grant.clientId })).status).toBe(200);
    expect(await isAccepted(service, grant.access_token)).toBe(false);
    expect((await revoke({ token: grant[kind], client_id: grant.clientId })).status).toBe(200);
    expect((await revoke({ token: 'nothing', client_id: grant.clientId })).status).toBe(200);
  });

  test('leaves no secret in the database or in the log', async () => {
    const clientId = await registerClient(service);
    const form = await consent(employee, clientId);
    const { body: first } = await token(form);
    const { body: second } = await refresh(service, { ...first, clientId });
    await token(form);
    const { db } = service.database;
    const stored = JSON.stringify([
      await db.selectFrom('oauth_grants').selectAll().execute(),
      await db.selectFrom('api_keys').selectAll().execute(),
      await db.selectFrom('audit_log').selectAll().execute(),
      await db.selectFrom('events').selectAll().execute(),
      await db.selectFrom('jobs').selectAll().execute(),
    ]);
    for (const secret of [form['code']!, form['code_verifier']!, ...tokensIn(first), ...tokensIn(second)]) {
      expect(stored).not.toContain(secret);
      expect(service.log()).not.toContain(secret);
    }
  });
});

const tokensIn = (body: { access_token: string; refresh_token: string }) => [body.access_token, body.refresh_token];
