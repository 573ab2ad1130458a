import { createHash } from 'node:crypto';
import { generateKeyPair, UnsecuredJWT } from 'jose';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createIdentityProvider } from '../../../server/platform/identity-provider.ts';
import { errorOf } from '../../support/actor.ts';
import { startIssuer } from '../../support/issuer.ts';
import { password, squat, startService } from '../../support/service.ts';

const google = await startIssuer(() => service.clock.now());
const apple = await startIssuer(() => service.clock.now());
const settingsOf = ({ issuer, audience, jwksUrl }: typeof google) => ({
  issuer,
  audiences: ['other-client', audience],
  jwksUrl,
});
const service = await startService({
  identityProviders: (clock) => ({
    google: createIdentityProvider(settingsOf(google), clock),
    apple: createIdentityProvider(settingsOf(apple), clock),
  }),
});
const { anonymous } = service;
const loginByGoogle = (body: object) => anonymous.post('/api/google-login/', body);
const loginByApple = (body: object) => anonymous.post('/api/apple-login/', body);

describe('a Google login', () => {
  test('makes an account with no company, whose session can register one and nothing else', async () => {
    const token = await google.sign({ subject: 'new', email: 'New.Person@Example.com' });
    const { status, body } = await loginByGoogle({
      token,
      email: 'new.person@example.com',
      name: 'New Person',
      picture: 'https://example.com/p.png',
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({ employee: null, company: null, token_type: 'Bearer' });
    const session = service.as(body);
    expect((await session.get('/api/sessions/')).status).toBe(200);
    expect(errorOf(await session.post('/api/projects/', { name: 'x' }))).toEqual({
      status: 403,
      code: 'COMPANY_REQUIRED',
    });
    const again = await loginByGoogle({
      token: await google.sign({ subject: 'new', email: 'new.person@example.com' }),
    });
    expect(again.body.employee).toBeNull();
    expect(await countAccounts('new.person@example.com')).toBe(1);
  });

  test('joins an account whose address was proved, and keeps its password and sessions', async () => {
    const admin = await service.registerCompany({ email: 'proved@example.com' });
    await service.signIn(admin.email);
    const { body } = await loginByGoogle({ token: await google.sign({ subject: 'proved', email: admin.email }) });
    expect(body.employee._id).toBe(admin.employeeId);
    expect((await admin.get('/api/sessions/')).status).toBe(200);
    expect((await anonymous.post('/login/', { email: admin.email, password })).status).toBe(200);
  });

  test('takes over an account whose address was never proved, without what was set up there', async () => {
    const admin = await service.registerCompany();
    const squatter = await squat(service, 'victim@example.com');
    const added = await admin.post('/employee/add/', {
      first_name: 'Grace',
      last_name: 'Hopper',
      email: 'victim@example.com',
      companyId: admin.companyId,
    });
    const { status, body } = await loginByGoogle({
      token: await google.sign({ subject: 'victim', email: 'victim@example.com' }),
    });
    expect(status).toBe(200);
    expect(body.employee._id).toBe(added.body._id);
    expect(errorOf(await squatter.get('/api/sessions/'))).toEqual({ status: 401, code: 'SESSION_ENDED' });
    expect(errorOf(await anonymous.post('/login/', { email: 'victim@example.com', password }))).toEqual({
      status: 401,
      code: 'INVALID_CREDENTIALS',
    });
  });

  test('goes by the subject and not by the address once they are linked', async () => {
    const admin = await service.registerCompany({ email: 'first@example.com' });
    await loginByGoogle({ token: await google.sign({ subject: 'mover', email: admin.email }) });
    const { body } = await loginByGoogle({
      token: await google.sign({ subject: 'mover', email: 'moved@example.com' }),
    });
    expect(body.employee._id).toBe(admin.employeeId);
    expect(await countAccounts('moved@example.com')).toBe(0);
  });

  test('refuses what the provider does not vouch for', async () => {
    const { privateKey } = await generateKeyPair('RS256');
    const bad: Record<string, string> = {
      'another key': await google.sign({ signedBy: privateKey }),
      'another audience': await google.sign({ audience: 'client-2' }),
      'another issuer': await google.sign({ issuer: 'https://evil.example' }),
      expired: await google.sign({ issuedAt: new Date(service.clock.now().getTime() - 7_200_000) }),
      'an address that is not verified': await google.sign({ emailVerified: false }),
      'an address without a word on it': await google.sign({ emailVerified: null }),
      "the other provider's": await apple.sign(),
      'made for another party of ours and not ours': await google.sign({ claims: { azp: 'client-2' } }),
      'several audiences and no party': await google.sign({ audience: ['client-1', 'other-client'] }),
      'an audience besides that is not ours': await google.sign({
        audience: ['client-1', 'client-2'],
        claims: { azp: 'client-1' },
      }),
      'a party that is no name': await google.sign({ claims: { azp: { id: 'client-1' } } }),
      'issued in the future': await google.sign({ issuedAt: new Date(service.clock.now().getTime() + 45_000) }),
      'a subject with a NUL': await google.sign({ subject: 'a\0b' }),
      'a subject with a line feed': await google.sign({ subject: 'a\nb' }),
      'a subject that is too long': await google.sign({ subject: 's'.repeat(256) }),
      'an address with a NUL': await google.sign({ email: 'a\0b@example.com' }),
      'an address that is too long': await google.sign({ email: `${'a'.repeat(250)}@example.com` }),
      'an address that is none': await google.sign({ email: 'nobody' }),
      'an address with the Kelvin sign, whose lower case is k': await google.sign({ email: '\u212Aate@example.com' }),
      unsigned: new UnsecuredJWT({ email: 'ada@example.com', email_verified: true })
        .setIssuer(google.issuer)
        .setAudience('client-1')
        .setSubject('s')
        .setIssuedAt()
        .setExpirationTime('1h')
        .encode(),
      nonsense: 'not.a.token',
    };
    for (const [what, token] of Object.entries(bad)) {
      expect([what, errorOf(await loginByGoogle({ token }))]).toEqual([
        what,
        { status: 401, code: 'INVALID_IDENTITY_TOKEN' },
      ]);
    }
    const mismatch = await loginByGoogle({
      token: await google.sign({ subject: 'm', email: 'm@example.com' }),
      email: 'n@example.com',
    });
    expect(errorOf(mismatch)).toEqual({ status: 401, code: 'INVALID_IDENTITY_TOKEN' });
    expect(await countAccounts('m@example.com')).toBe(0);
  });

  test.each([1e13, 1e300])('takes a token that its issuer lets live for %s seconds', async (expiresInSeconds) => {
    const token = await google.sign({
      subject: `long-${expiresInSeconds}`,
      email: `long-${expiresInSeconds}@example.com`,
      expiresInSeconds,
    });
    expect((await loginByGoogle({ token })).status).toBe(200);
    expect(errorOf(await loginByGoogle({ token }))).toEqual({ status: 401, code: 'INVALID_IDENTITY_TOKEN' });
  });

  test('makes one account of twenty first logins at once', async () => {
    const tokens = await Promise.all(
      Array.from({ length: 20 }, () => google.sign({ subject: 'parallel', email: 'parallel@example.com' })),
    );
    const answers = await Promise.all(tokens.map((token) => loginByGoogle({ token })));
    expect(answers.map(({ status }) => status)).toEqual(Array<number>(20).fill(200));
    expect(await countAccounts('parallel@example.com')).toBe(1);
  });
});

describe('an identity token', () => {
  const refused = { status: 401, code: 'INVALID_IDENTITY_TOKEN' };

  test('of several audiences is taken where the party that asked for it is ours', async () => {
    const audience = ['client-1', 'other-client'];
    const token = await google.sign({
      subject: 'azp',
      email: 'azp@example.com',
      audience,
      claims: { azp: 'other-client' },
    });
    expect((await loginByGoogle({ token })).status).toBe(200);
  });

  test('signs in once, from any sender and with any spelling of its signature', async () => {
    const token = await google.sign({ subject: 'once', email: 'once@example.com' });
    const first = await loginByGoogle({ token });
    expect(first.status).toBe(200);
    const detail = 'This identity token has been used: get a new one from its provider.';
    const again = await loginByGoogle({ token });
    expect([errorOf(again), again.body.detail]).toEqual([refused, detail]);
    // The padding of base64 has bits that mean nothing.
    for (const last of 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789') {
      expect(errorOf(await loginByGoogle({ token: token.slice(0, -1) + last }))).toEqual(refused);
    }
    expect((await service.as(first.body).get('/api/sessions/')).body.sessions).toHaveLength(1);
  });

  test('that twenty send at once signs one of them in', async () => {
    const token = await google.sign({ subject: 'raced', email: 'raced@example.com' });
    const answers = await Promise.all(Array.from({ length: 20 }, () => loginByGoogle({ token })));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    const sessions = await service.database.db
      .selectFrom('sessions')
      .select('session_id')
      .where('account_id', 'in', (db) =>
        db.selectFrom('accounts').where('email', '=', 'raced@example.com').select('account_id'),
      )
      .execute();
    expect(sessions).toHaveLength(1);
  });

  test('is not used up by a sign-in that is refused', async () => {
    const token = await google.sign({ subject: 'spared', email: 'spared@example.com' });
    expect((await loginByGoogle({ token, company_id: 999_999 })).status).toBe(400);
    expect((await loginByGoogle({ token })).status).toBe(200);
  });

  test('whose answer was a choice of companies goes on with one of them, once, or with the ticket, once', async () => {
    const email = 'choice@example.com';
    const one = await service.registerCompany({ email, name: 'One' });
    const two = await service.registerCompany({ email, name: 'Two' });
    const begin = async () => {
      const token = await google.sign({ subject: 'choice', email });
      return { token, choice: (await loginByGoogle({ token })).body };
    };
    const withTicket = (ticket: string) =>
      anonymous.post(
        '/token-login/',
        { email, company_id: one.companyId },
        { headers: { authorization: `Bearer ${ticket}` } },
      );

    const { token, choice } = await begin();
    expect(choice.companies).toHaveLength(2);
    expect(errorOf(await loginByGoogle({ token }))).toEqual(refused);
    const chosen = await loginByGoogle({ token, company_id: two.companyId });
    expect(chosen.body.company.company_id).toBe(two.companyId);
    expect(errorOf(await loginByGoogle({ token, company_id: one.companyId }))).toEqual(refused);
    expect(errorOf(await withTicket(choice.login_ticket))).toEqual({ status: 401, code: 'PROOF_REQUIRED' });

    const other = await begin();
    expect((await withTicket(other.choice.login_ticket)).status).toBe(200);
    expect(errorOf(await loginByGoogle({ token: other.token, company_id: one.companyId }))).toEqual(refused);

    const late = await begin();
    service.clock.advance({ minutes: 5, seconds: 1 });
    expect(errorOf(await loginByGoogle({ token: late.token, company_id: one.companyId }))).toEqual(refused);
  });

  test('carries the nonce that is sent, as it is or hashed', async () => {
    const nonce = 'a nonce of the app';
    const hash = createHash('sha256').update(nonce);
    const spelled = { plain: nonce, hex: hash.copy().digest('hex'), base64url: hash.digest('base64url') };
    for (const [subject, claimed] of Object.entries(spelled)) {
      const sign = () => apple.sign({ subject, email: `${subject}@example.com`, claims: { nonce: claimed } });
      expect((await loginByApple({ token: await sign(), nonce })).status).toBe(200);
      expect(errorOf(await loginByApple({ token: await sign(), nonce: 'another' }))).toEqual(refused);
      // Who does not send it does not ask for the check.
      expect((await loginByApple({ token: await sign() })).status).toBe(200);
    }
    const without = await apple.sign({ subject: 'plain', email: 'plain@example.com' });
    expect(errorOf(await loginByApple({ token: without, nonce }))).toEqual(refused);
    const byGoogle = await google.sign({ subject: 'nonce', email: 'nonce@example.com', claims: { nonce } });
    expect((await loginByGoogle({ token: byGoogle, nonce })).status).toBe(200);
  });
});

describe('the published keys', () => {
  test('are fetched once for many logins, and a provider that is away is a 503', async () => {
    const lonely = await startIssuer(() => service.clock.now());
    const provider = createIdentityProvider(settingsOf(lonely), service.clock);
    for (let login = 0; login < 10; login += 1) await provider.verify(await lonely.sign());
    expect(lonely.fetches()).toBe(1);

    const away = await startIssuer(() => service.clock.now());
    away.isDown = true;
    await expect(
      createIdentityProvider(settingsOf(away), service.clock).verify(await away.sign()),
    ).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  });

  test('are fetched again for a key that is not among them, and the rotated one is refused', async () => {
    const rotating = await startIssuer(() => service.clock.now());
    const provider = createIdentityProvider(settingsOf(rotating), service.clock);
    const old = await rotating.sign();
    await provider.verify(old);
    await rotating.rotate();
    // Keys are fetched again after half a minute.
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 30_000 });
    onTestFinished(() => void vi.useRealTimers());
    await expect(provider.verify(await rotating.sign())).resolves.toMatchObject({ email: 'ada@example.com' });
    await expect(provider.verify(old)).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
  });
});

describe('an Apple login', () => {
  test('takes the flag as a word, and the stored identity where the address is left out later', async () => {
    const admin = await service.registerCompany({ email: 'apple@example.com' });
    const first = await loginByApple({
      token: await apple.sign({ subject: 'a1', email: admin.email, emailVerified: 'true' }),
      name: 'Ada',
    });
    expect(first.body.employee._id).toBe(admin.employeeId);
    const later = await loginByApple({
      token: await apple.sign({ subject: 'a1', email: null }),
      email: 'anything@example.com',
    });
    expect(later.body.employee._id).toBe(admin.employeeId);
  });

  test('refuses an unknown identity without an address, whatever the body claims', async () => {
    const admin = await service.registerCompany({ email: 'claimed@example.com' });
    const answer = await loginByApple({ token: await apple.sign({ subject: 'a2', email: null }), email: admin.email });
    expect(errorOf(answer)).toEqual({ status: 401, code: 'INVALID_IDENTITY_TOKEN' });
  });
});

describe('the appleUserId of a registration', () => {
  const refused = { status: 401, code: 'INVALID_IDENTITY_TOKEN' };
  const relay = 'x7k2@privaterelay.appleid.com';

  async function register(email: string, appleUserId: string) {
    await anonymous.post('/get-register-otp/', { email });
    await service.drain();
    const company = { company_name: 'Claims', email, first_name: 'Ada', last_name: 'Lovelace', appleUserId };
    const { status, body } = await anonymous.post('/api/create-company-and-employee/', {
      ...company,
      otp: service.mailbox.lastCode(email),
    });
    expect(status).toBe(200);
    return body.employee as { _id: number };
  }
  const login = async (subject: string, email: string | null) =>
    loginByApple({ token: await apple.sign({ subject, email }) });

  test.each([
    ['no address', null],
    ['a relay address', relay],
  ])('is linked by the Apple login that proves it with %s, and from then on by any', async (_what, email) => {
    const subject = `claimed with ${email}`;
    const employee = await register(`claim-${String(email === null)}@example.com`, subject);
    const first = await login(subject, email);
    expect(first.body.employee._id).toBe(employee._id);
    service.clock.advance({ days: 2 });
    expect((await login(subject, null)).body.employee._id).toBe(employee._id);
    expect(await countAccounts(relay)).toBe(0);
  });

  test('gives nothing to who does not prove it', async () => {
    const victim = await register('victim-of-claim@example.com', 'victims subject');
    expect(errorOf(await login('another subject', null))).toEqual(refused);
    const other = await login('another subject', 'somebody@example.com');
    expect(other.body.employee?._id).not.toBe(victim._id);
  });

  test('is no claim where the token carries an address of its own', async () => {
    await register('own-address@example.com', 'subject with an address');
    const { body } = await login('subject with an address', 'elsewhere@example.com');
    expect(body.employee).toBeNull();
  });

  test('is forgotten after 24 hours', async () => {
    await register('late-claim@example.com', 'late subject');
    service.clock.advance({ hours: 24, seconds: 1 });
    expect(errorOf(await login('late subject', null))).toEqual(refused);
  });

  test('takes no subject from the account that has it', async () => {
    const owner = await register('owner-of-subject@example.com', 'taken subject');
    await login('taken subject', null);
    await register('thief-of-subject@example.com', 'taken subject');
    expect((await login('taken subject', null)).body.employee._id).toBe(owner._id);
  });

  test('is believed of none where several claim it', async () => {
    await register('one-claims@example.com', 'disputed subject');
    await register('two-claims@example.com', 'disputed subject');
    expect(errorOf(await login('disputed subject', null))).toEqual(refused);
  });

  test('is linked once by twenty logins at once', async () => {
    const employee = await register('raced-claim@example.com', 'raced subject');
    const answers = await Promise.all(Array.from({ length: 20 }, () => login('raced subject', null)));
    expect(answers.map(({ body }) => body.employee?._id)).toEqual(Array<number>(20).fill(employee._id));
  });
});

async function countAccounts(email: string): Promise<number> {
  return (await service.database.db.selectFrom('accounts').where('email', '=', email).select('account_id').execute())
    .length;
}
