import { generateKeyPair, UnsecuredJWT } from 'jose';
import { describe, expect, test } from 'vitest';
import { createIdentityProvider } from '../../server/kernel/identity-provider.ts';
import { refusal } from '../support/actor.ts';
import { startIssuer } from '../support/issuer.ts';
import { password, startService } from '../support/service.ts';

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
const { stranger } = service;
const loginByGoogle = (body: object) => stranger.post('/api/google-login/', body);
const loginByApple = (body: object) => stranger.post('/api/apple-login/', body);

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
    expect(refusal(await session.post('/api/projects/', { name: 'x' }))).toEqual({
      status: 403,
      code: 'COMPANY_REQUIRED',
    });
    const again = await loginByGoogle({ token });
    expect(again.body.employee).toBeNull();
    expect(await countAccounts('new.person@example.com')).toBe(1);
  });

  test('joins an account whose address was proved, and keeps its password and sessions', async () => {
    const admin = await service.registerCompany({ email: 'proved@example.com' });
    await service.signIn(admin.email);
    const { body } = await loginByGoogle({ token: await google.sign({ subject: 'proved', email: admin.email }) });
    expect(body.employee._id).toBe(admin.employeeId);
    expect((await admin.get('/api/sessions/')).status).toBe(200);
    expect((await stranger.post('/login/', { email: admin.email, password })).status).toBe(200);
  });

  test('takes over an account whose address was never proved, without what was set up there', async () => {
    const admin = await service.registerCompany();
    const squatter = await service.addEmployee(admin, { email: 'victim@example.com' });
    const { status, body } = await loginByGoogle({
      token: await google.sign({ subject: 'victim', email: 'victim@example.com' }),
    });
    expect(status).toBe(200);
    expect(body.employee._id).toBe(squatter.employeeId);
    expect(refusal(await squatter.get('/api/sessions/'))).toEqual({ status: 401, code: 'SESSION_ENDED' });
    expect(refusal(await stranger.post('/login/', { email: 'victim@example.com', password }))).toEqual({
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
      expect([what, refusal(await loginByGoogle({ token }))]).toEqual([
        what,
        { status: 401, code: 'INVALID_IDENTITY_TOKEN' },
      ]);
    }
    const mismatch = await loginByGoogle({
      token: await google.sign({ subject: 'm', email: 'm@example.com' }),
      email: 'n@example.com',
    });
    expect(refusal(mismatch)).toEqual({ status: 401, code: 'INVALID_IDENTITY_TOKEN' });
    expect(await countAccounts('m@example.com')).toBe(0);
  });

  test('makes one account of twenty first logins at once', async () => {
    const token = await google.sign({ subject: 'parallel', email: 'parallel@example.com' });
    const answers = await Promise.all(Array.from({ length: 20 }, () => loginByGoogle({ token })));
    expect(answers.map(({ status }) => status)).toEqual(Array<number>(20).fill(200));
    expect(await countAccounts('parallel@example.com')).toBe(1);
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
    const provider = createIdentityProvider(settingsOf(rotating), service.clock, { cooldownMs: 0 });
    const old = await rotating.sign();
    await provider.verify(old);
    await rotating.rotate();
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
    expect(refusal(answer)).toEqual({ status: 401, code: 'INVALID_IDENTITY_TOKEN' });
  });
});

async function countAccounts(email: string): Promise<number> {
  return (await service.database.db.selectFrom('accounts').where('email', '=', email).select('account_id').execute())
    .length;
}
