import { describe, expect, test } from 'vitest';
import { createCaller, got, headersOf, said, type Answer, type Pair } from '../caller.ts';
import { password, type Person } from '../people.ts';
import { apple, google, service } from '../running.ts';

/*
 * Contract 2: tokens, sessions, logins. One-time codes and passwords are in codes-and-passwords.ts.
 *
 * Not to be seen from outside: what needs a clock (the end of a session after 90 days, a predecessor after 10 seconds, a
 * ticket after 5 minutes: test/features/accounts/sessions.test.ts, test/features/accounts/login.test.ts; expired tokens are in expiry.ts), that secrets are stored hashed (test/contract/hardening.test.ts),
 * that a logout holds on every node (test/features/accounts/sessions.test.ts), and equal times of refusals (`npm run bench:sign-in`).
 */

const { anonymous, url } = service;
const admin = await service.register();
const email = service.newEmail();
const both = await service.register({ email, company_name: 'First' });
await service.invite(admin, { email });
got(await service.codeLogin(email, { company_id: admin.companyId }));
await service.setPassword(email);
const [inFirst, inSecond] = [both.companyId, admin.companyId];

const login = (extra: object = {}): Promise<Answer> => anonymous.post('/login/', { email, password, ...extra });
const pairOf = async (answer: Answer | Promise<Answer>): Promise<Pair> => got(await answer) as Pair;
const signIn = () => pairOf(login({ company_id: inFirst }));
const refresh = (pair: Pair): Promise<Answer> =>
  anonymous.post('/api/token/refresh/', { refresh_token: pair.refresh_token });
const me = `/employee/list/${inFirst}/`;
const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString());

describe('contract 2.2, the token pair', () => {
  test('is two JWTs: access for 15 minutes, refresh for 30 days', async () => {
    const { access_token, refresh_token } = await signIn();
    for (const [token, seconds] of [
      [access_token, 15 * 60],
      [refresh_token, 30 * 24 * 3600],
    ] as const) {
      expect(token).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/);
      const { iat, exp } = claimsOf(token);
      expect(exp - iat).toBe(seconds);
    }
  });

  test('serves requests in Authorization and X-Refresh-Token', async () => {
    expect(said(await anonymous.get(me, headersOf(await signIn())))).toBe('200');
  });

  test('is asked for as a whole: one without the other is 401 TOKEN_PAIR_REQUIRED', async () => {
    const { authorization, ...rest } = headersOf(await signIn());
    expect(said(await anonymous.get(me, { authorization: authorization! }))).toBe('401 TOKEN_PAIR_REQUIRED');
    expect(said(await anonymous.get(me, rest))).toBe('401 TOKEN_PAIR_REQUIRED');
  });

  test('of two different sessions is 401 TOKEN_PAIR_REQUIRED', async () => {
    const [one, other] = [await signIn(), await signIn()];
    expect(said(await anonymous.get(me, headersOf({ ...one, refresh_token: other.refresh_token })))).toBe(
      '401 TOKEN_PAIR_REQUIRED',
    );
  });

  test('does not take one token for the other, nor a changed one', async () => {
    const pair = await signIn();
    const swapped = { access_token: pair.refresh_token, refresh_token: pair.access_token };
    expect(said(await anonymous.get(me, headersOf(swapped)))).toMatch(/^401 /);
    const [head, payload, signature] = pair.access_token.split('.');
    const forged = Buffer.from(JSON.stringify({ ...claimsOf(pair.access_token), exp: 9_999_999_999 })).toString(
      'base64url',
    );
    for (const access_token of [`${head}.${forged}.${signature}`, `${head}.${payload}.`, `e30.${payload}.${signature}`])
      expect(said(await anonymous.get(me, headersOf({ ...pair, access_token })))).toBe('401 INVALID_TOKEN');
  });

  test('with a refresh token that another tab has rotated is good for ordinary requests', async () => {
    const first = await signIn();
    const second = await pairOf(refresh(first));
    await pairOf(refresh(second));
    expect(said(await anonymous.get(me, headersOf(first)))).toBe('200');
  });

  test('with an older refresh token is theft where a new session is to come of it', async () => {
    const first = await signIn();
    const third = await pairOf(refresh(await pairOf(refresh(first))));
    const change = { email, company_id: inSecond };
    expect(said(await anonymous.post('/token-login/', change, headersOf(first)))).toBe('401 SESSION_ENDED');
    expect(said(await anonymous.get(me, headersOf(third)))).toBe('401 SESSION_ENDED');
  });
});

describe('contract 2.3, refresh and logout', () => {
  test('a refresh answers a new pair', async () => {
    const first = await signIn();
    const second = got(await refresh(first));
    expect(Object.keys(second).toSorted()).toEqual(['access_token', 'expires_in', 'refresh_token', 'token_type']);
    expect(second).toMatchObject({ token_type: 'Bearer', expires_in: 900 });
    expect(second.refresh_token).not.toBe(first.refresh_token);
    expect(said(await anonymous.get(me, headersOf(second)))).toBe('200');
  });

  test('two tabs that race within 10 seconds both go on', async () => {
    const first = await signIn();
    const answers = await Promise.all([refresh(first), refresh(first), refresh(first)]);
    expect(answers.map(said)).toEqual(['200', '200', '200']);
    expect(new Set(answers.map(({ body }) => body.refresh_token)).size).toBe(1);
  });

  test('a dead refresh token ends the whole session', async () => {
    const first = await signIn();
    const third = await pairOf(refresh(await pairOf(refresh(first))));
    expect(said(await refresh(first))).toBe('401 SESSION_ENDED');
    expect(said(await refresh(third))).toBe('401 SESSION_ENDED');
    expect(said(await anonymous.get(me, headersOf(third)))).toBe('401 SESSION_ENDED');
  });

  test('what is no refresh token is 401 INVALID_TOKEN', async () => {
    const { access_token } = await signIn();
    for (const refresh_token of ['x', access_token])
      expect(said(await anonymous.post('/api/token/refresh/', { refresh_token }))).toBe('401 INVALID_TOKEN');
  });

  test('a logout ends the session at once, and no other', async () => {
    const [one, other] = [await signIn(), await signIn()];
    expect(got(await anonymous.post('/logout/', undefined, headersOf(one)))).toEqual({ success: true });
    expect(said(await anonymous.get(me, headersOf(one)))).toBe('401 SESSION_ENDED');
    expect(said(await refresh(one))).toBe('401 SESSION_ENDED');
    expect(said(await anonymous.get(me, headersOf(other)))).toBe('200');
  });

  test('a logout asks for the pair', async () => {
    const pair = await signIn();
    expect(said(await anonymous.post('/logout/'))).toBe('401 UNAUTHENTICATED');
    expect(said(await anonymous.post('/logout/', undefined, { authorization: `Bearer ${pair.access_token}` }))).toBe(
      '401 TOKEN_PAIR_REQUIRED',
    );
  });
});

describe('contract 2, the login result', () => {
  test('has tokens, Bearer, expires_in, employee and company', async () => {
    const body = got(await login({ company_id: inFirst }));
    const { access_token, refresh_token, employee, ...rest } = body;
    expect([typeof access_token, typeof refresh_token]).toEqual(['string', 'string']);
    expect(rest).toEqual({
      token_type: 'Bearer',
      expires_in: 900,
      company: { company_id: inFirst, company_name: 'First' },
    });
    expect(employee).toMatchObject({ email, companyId: inFirst, isAdmin: true });
  });

  test('of an account of several companies is their list and a ticket of 5 minutes, without a token', async () => {
    const body = got(await login());
    expect(Object.keys(body).toSorted()).toEqual(['companies', 'expires_in', 'login_ticket']);
    expect(body.expires_in).toBe(300);
    expect(body.companies).toEqual(
      expect.arrayContaining([
        { company_id: inFirst, company_name: 'First', isAdmin: true },
        { company_id: inSecond, company_name: 'Analytical Engines', isAdmin: false },
      ]),
    );
    expect(body.companies).toHaveLength(2);
  });

  test('takes company_id at every login, and another company is a 400 not_found', async () => {
    for (const company_id of [inFirst, inSecond])
      expect(got(await login({ company_id })).company.company_id).toBe(company_id);
    expect(said(await login({ company_id: 987_654_321 }))).toBe('400 VALIDATION_FAILED company_id:not_found');
    expect(got(await service.codeLogin(email, { company_id: inSecond })).company.company_id).toBe(inSecond);
    for (const [name, issuer] of [
      ['google', google],
      ['apple', apple],
    ] as const) {
      const token = await issuer.sign({ email, subject: `of both, ${name}` });
      const body = got(await anonymous.post(`/api/${name}-login/`, { token, company_id: inSecond }));
      expect(body.company.company_id).toBe(inSecond);
    }
  });

  test('of an account of no company has null for both, and its session can do nothing in a company', async () => {
    const leaver = await service.join(admin);
    got(await admin.delete(`/api/employees/${leaver._id}/`));
    const body = got(await service.codeLogin(leaver.email));
    expect(body).toMatchObject({ employee: null, company: null });
    const session = service.as(body);
    expect(said(await session.get(`/employee/list/${admin.companyId}/`))).toBe('403 COMPANY_REQUIRED');
    expect(said(await session.post('/api/projects/', { name: 'x' }))).toBe('403 COMPANY_REQUIRED');
    const registered = await service.register({ email: leaver.email, company_name: 'Of their own' });
    expect(registered.email).toBe(leaver.email);
  });
});

describe('contract 2, POST /login/', () => {
  test('answers the same to a wrong password and to an unknown address', async () => {
    const wrong = await anonymous.post('/login/', { email, password: 'not the password' });
    const unknown = await anonymous.post('/login/', { email: 'nobody@example.com', password: 'not the password' });
    expect([said(wrong), said(unknown)]).toEqual(Array(2).fill('401 INVALID_CREDENTIALS'));
    expect({ ...wrong.body, requestId: '' }).toEqual({ ...unknown.body, requestId: '' });
  });

  test('takes the address without regard to case', async () => {
    expect(said(await anonymous.post('/login/', { email: email.toUpperCase(), password }))).toBe('200');
  });

  test('is closed to an address after 10 failures, and open to others', async () => {
    const target = service.newEmail();
    const answers: string[] = [];
    for (let nth = 0; nth < 11; nth += 1)
      answers.push(said(await anonymous.post('/login/', { email: target, password: 'not the password' })));
    expect(answers).toEqual([...Array<string>(10).fill('401 INVALID_CREDENTIALS'), '429 RATE_LIMITED']);
    const refused = await anonymous.post('/login/', { email: target, password });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(60);
    expect(said(await login({ company_id: inFirst }))).toBe('200');
  });
});

describe.each([
  ['google', google],
  ['apple', apple],
] as const)('contract 2, POST /api/%s-login/', (name, issuer) => {
  const path = `/api/${name}-login/`;
  const enter = async (parts: Parameters<typeof issuer.sign>[0], body: object = {}) =>
    anonymous.post(path, { token: await issuer.sign(parts), ...body });
  let made = 0;
  const newSubject = () => `subject-of-outside-${(made += 1)}`;

  test('creates the account where there is none', async () => {
    const body = got(await enter({ email: service.newEmail(), subject: newSubject() }, { name: 'New' }));
    expect(body).toMatchObject({ token_type: 'Bearer', employee: null, company: null });
  });

  test('signs the owner of the address in', async () => {
    const person = await service.register();
    const fields = {
      email: person.email,
      name: 'Ada',
      ...(name === 'google' ? { picture: 'https://example.com/a.png' } : {}),
    };
    expect(got(await enter({ email: person.email, subject: newSubject() }, fields)).employee._id).toBe(person._id);
  });

  test('goes by issuer and subject: a known subject stays its account, whatever address it has now', async () => {
    const person = await service.register();
    const subject = newSubject();
    got(await enter({ email: person.email, subject }));
    expect(got(await enter({ email: service.newEmail(), subject })).employee._id).toBe(person._id);
  });

  test('takes the address from the stored identity where the token has none', async () => {
    const person = await service.register();
    const subject = newSubject();
    got(await enter({ email: person.email, subject }));
    expect(got(await enter({ email: null, subject })).employee._id).toBe(person._id);
    expect(said(await enter({ email: null, subject: newSubject() }))).toBe('401 INVALID_IDENTITY_TOKEN');
  });

  test.each([
    ['another issuer', { issuer: 'https://evil.example' }],
    ['another audience', { audience: 'somebody-else' }],
    ['a past expiry', { issuedAt: new Date(Date.now() - 7_200_000) }],
    ['an address that is not verified', { emailVerified: false }],
    ['an issue in the future', { issuedAt: new Date(Date.now() + 3_600_000) }],
  ])('refuses a token of %s', async (_what, parts) => {
    expect(said(await enter({ email: service.newEmail(), subject: newSubject(), ...parts }))).toBe(
      '401 INVALID_IDENTITY_TOKEN',
    );
  });

  test('refuses a token that another key signed, and what is no token', async () => {
    const { privateKey } = await crypto.subtle.generateKey(
      { name: 'RSASSA-PKCS1-v1_5', modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256' },
      true,
      ['sign', 'verify'],
    );
    expect(said(await enter({ email: service.newEmail(), subject: newSubject(), signedBy: privateKey }))).toBe(
      '401 INVALID_IDENTITY_TOKEN',
    );
    expect(said(await anonymous.post(path, { token: 'nonsense' }))).toBe('401 INVALID_IDENTITY_TOKEN');
  });

  test('refuses a body whose email is not the token’s', async () => {
    const parts = { email: service.newEmail(), subject: newSubject() };
    expect(said(await enter(parts, { email: service.newEmail() }))).toBe('401 INVALID_IDENTITY_TOKEN');
    expect(said(await enter(parts, { email: parts.email }))).toBe('200');
  });

  test('takes a token once', async () => {
    const token = await issuer.sign({ email: service.newEmail(), subject: newSubject() });
    expect(said(await anonymous.post(path, { token }))).toBe('200');
    expect(said(await anonymous.post(path, { token }))).toBe('401 INVALID_IDENTITY_TOKEN');
  });
});

describe('contract 2, POST /token-login/', () => {
  const ticketOf = async (): Promise<string> => got(await login()).login_ticket;
  const present = (proof: string, body: object = {}) =>
    anonymous.post('/token-login/', { email, company_id: inFirst, ...body }, { authorization: `Bearer ${proof}` });

  test('without a proof is 401 PROOF_REQUIRED', async () => {
    expect(said(await anonymous.post('/token-login/', { email, company_id: inFirst }))).toBe('401 PROOF_REQUIRED');
  });

  test('takes a login ticket once', async () => {
    const ticket = await ticketOf();
    expect(got(await present(ticket)).company.company_id).toBe(inFirst);
    expect(said(await present(ticket))).toBe('401 PROOF_REQUIRED');
  });

  test('takes a ticket for its own address only', async () => {
    expect(said(await present(await ticketOf(), { email: admin.email }))).toBe('401 PROOF_REQUIRED');
  });

  test('of a company that the account is not in is a 400 not_found', async () => {
    const outsider = await service.register();
    expect(said(await present(await ticketOf(), { company_id: outsider.companyId }))).toBe(
      '400 VALIDATION_FAILED company_id:not_found',
    );
  });

  test('holds company_name against the company’s name', async () => {
    expect(said(await present(await ticketOf(), { company_name: 'Another' }))).toBe(
      '400 VALIDATION_FAILED company_name:mismatch',
    );
    expect(said(await present(await ticketOf(), { company_name: 'First' }))).toBe('200');
  });

  test('asks for an admin where isAdmin is true', async () => {
    expect(said(await present(await ticketOf(), { isAdmin: true }))).toBe('200');
    expect(said(await present(await ticketOf(), { isAdmin: true, company_id: inSecond }))).toBe('403 ADMIN_REQUIRED');
    expect(said(await present(await ticketOf(), { isAdmin: false, company_id: inSecond }))).toBe('200');
  });

  test('takes a session of that address to change company, and ends it', async () => {
    const pair = await signIn();
    const changed = got(await anonymous.post('/token-login/', { email, company_id: inSecond }, headersOf(pair)));
    expect(changed.company.company_id).toBe(inSecond);
    expect(said(await createCaller(url, headersOf(pair)).get(me))).toBe('401 SESSION_ENDED');
  });

  test('takes a session for its own address only, and with its refresh token', async () => {
    const pair = await signIn();
    const other: Person = admin;
    expect(
      said(await anonymous.post('/token-login/', { email: other.email, company_id: inSecond }, headersOf(pair))),
    ).toBe('401 PROOF_REQUIRED');
    expect(said(await present(pair.access_token))).toBe('401 TOKEN_PAIR_REQUIRED');
  });

  test('takes a key with the scope login of that company, for its employees', async () => {
    const key = await service.makeKey(admin, ['login']);
    const ask = (body: object) => key.post('/token-login/', { email, company_id: inSecond, ...body });
    expect(got(await ask({})).company.company_id).toBe(inSecond);
    expect(said(await ask({ company_id: inFirst }))).toBe('400 VALIDATION_FAILED company_id:not_found');
    expect(said(await ask({ email: 'nobody@example.com' }))).toBe('400 VALIDATION_FAILED email:not_found');
    const without = await service.makeKey(admin, ['read', 'write']);
    expect(said(await without.post('/token-login/', { email, company_id: inSecond }))).toBe('403 SCOPE_REQUIRED');
  });
});

describe('contract 2.6, what is open', () => {
  const open = [
    '/login/',
    '/api/google-login/',
    '/api/apple-login/',
    '/verify-email/',
    '/otp-login/',
    '/get-register-otp/',
  ];
  const more = ['/api/create-company-and-employee/', '/reset/link/', '/reset/verify/', '/api/token/refresh/'];

  test('is these ten operations; all else needs a proof', async () => {
    const { paths } = got(await anonymous.get('/openapi.json'));
    const found = Object.entries(paths as Record<string, Record<string, { security?: object[] }>>)
      .filter(([, item]) => Object.values(item).some(({ security }) => security?.length === 0))
      .map(([path]) => path);
    expect(found.toSorted()).toEqual([...open, ...more].toSorted());
    for (const [path, item] of Object.entries(paths as Record<string, object>))
      for (const method of Object.keys(item)) {
        if (found.includes(path)) continue;
        const asked = path.replaceAll(/\{\w+\}/g, '1');
        const input = path === '/token-login/' ? { email, company_id: 1 } : undefined;
        expect([path, said(await anonymous.send(method.toUpperCase(), asked, input))]).toEqual([
          path,
          input ? '401 PROOF_REQUIRED' : '401 UNAUTHENTICATED',
        ]);
      }
  });
});
