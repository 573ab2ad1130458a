import { describe, expect, test } from 'vitest';
import { errorOf, type TokenPair } from '../../support/actor.ts';
import { overWebSocket } from '../../support/listener.ts';
import { startService } from '../../support/service.ts';

const service = await startService();
const { anonymous, clock } = service;
const ada = await service.registerCompany({ email: 'ada@example.com' });

const sessionsWith = (headers: Record<string, string>) => anonymous.get('/api/sessions/', { headers });
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const refresh = (pair: TokenPair) => anonymous.post('/api/token/refresh/', { refresh_token: pair.refresh_token });
const expiryOf = (token: string): number =>
  (JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as { exp: number }).exp;
const newSession = async (): Promise<TokenPair> => (await service.signIn(ada.email)).pair;

describe('the token pair', () => {
  test('is needed whole, and of one session', async () => {
    const one = await newSession();
    const other = await newSession();
    expect(errorOf(await sessionsWith({}))).toEqual({ status: 401, code: 'UNAUTHENTICATED' });
    expect(errorOf(await sessionsWith(bearer(one.access_token)))).toEqual({ status: 401, code: 'TOKEN_PAIR_REQUIRED' });
    expect(errorOf(await sessionsWith({ 'x-refresh-token': one.refresh_token }))).toEqual({
      status: 401,
      code: 'TOKEN_PAIR_REQUIRED',
    });
    const mixed = { ...bearer(one.access_token), 'x-refresh-token': other.refresh_token };
    expect(errorOf(await sessionsWith(mixed))).toEqual({ status: 401, code: 'TOKEN_PAIR_REQUIRED' });
    const swapped = { ...bearer(one.refresh_token), 'x-refresh-token': one.access_token };
    expect(errorOf(await sessionsWith(swapped))).toEqual({ status: 401, code: 'INVALID_TOKEN' });
  });

  test('is served with a fresh access token where the old one has expired and the refresh token is good', async () => {
    const pair = await newSession();
    clock.advance({ minutes: 15, seconds: 1 });
    const served = await service.as(pair).get('/api/sessions/');
    expect(served.status).toBe(200);
    const fresh = served.headers.get('x-access-token')!;
    const next = await service.as({ ...pair, access_token: fresh }).get('/api/sessions/');
    expect(next.status).toBe(200);
    expect(next.headers.get('x-access-token')).toBeNull();
  });

  test('expires with the refresh token after 30 days without use', async () => {
    const pair = await newSession();
    clock.advance({ days: 30, seconds: 1 });
    expect(errorOf(await service.as(pair).get('/api/sessions/'))).toEqual({ status: 401, code: 'INVALID_TOKEN' });
    expect(errorOf(await refresh(pair))).toEqual({ status: 401, code: 'INVALID_TOKEN' });
  });
});

describe('a refresh', () => {
  test('answers a new pair, and the old refresh token still accompanies requests of other tabs', async () => {
    const pair = await newSession();
    const { status, body } = await refresh(pair);
    expect(status).toBe(200);
    expect(Object.keys(body).toSorted()).toEqual(['access_token', 'expires_in', 'refresh_token', 'token_type']);
    expect(body.refresh_token).not.toBe(pair.refresh_token);
    expect((await service.as(body).get('/api/sessions/')).status).toBe(200);
    expect((await service.as(pair).get('/api/sessions/')).status).toBe(200);
  });

  test('of twenty tabs at once makes one successor, and logs none of them out', async () => {
    const pair = await newSession();
    const answers = await Promise.all(Array.from({ length: 20 }, () => refresh(pair)));
    expect(answers.map(({ status }) => status)).toEqual(Array<number>(20).fill(200));
    expect(new Set(answers.map(({ body }) => body.refresh_token)).size).toBe(1);
    expect((await refresh(answers[7]!.body)).status).toBe(200);
  });

  test('with a dead token after ten seconds ends the whole session, for the thief and for the owner', async () => {
    const pair = await newSession();
    const successor = (await refresh(pair)).body as TokenPair;
    clock.advance({ seconds: 11 });
    expect(errorOf(await refresh(pair))).toEqual({ status: 401, code: 'SESSION_ENDED' });
    expect(errorOf(await refresh(successor))).toEqual({ status: 401, code: 'SESSION_ENDED' });
    expect(errorOf(await service.as(successor).get('/api/sessions/'))).toEqual({ status: 401, code: 'SESSION_ENDED' });
  });

  test('with a token two rotations old ends the session at once', async () => {
    const pair = await newSession();
    const second = (await refresh(pair)).body as TokenPair;
    const third = (await refresh(second)).body as TokenPair;
    expect(errorOf(await refresh(pair))).toEqual({ status: 401, code: 'SESSION_ENDED' });
    expect(errorOf(await refresh(third))).toEqual({ status: 401, code: 'SESSION_ENDED' });
  });

  test('keeps a session for 90 days from its sign-in at most, and its tokens say so', async () => {
    const signedInAt = clock.now().getTime();
    let pair = await newSession();
    for (let renewed = 0; renewed < 4; renewed += 1) {
      clock.advance({ days: 20 });
      const { status, body } = await refresh(pair);
      expect(status).toBe(200);
      pair = body;
    }
    const [session] = (await service.as(pair).get('/api/sessions/')).body.sessions;
    const endsAt = signedInAt + 90 * 86_400_000;
    expect(Math.abs(Date.parse(session.expiresAt) - endsAt)).toBeLessThan(60_000);
    expect(expiryOf(pair.refresh_token)).toBe(Math.floor(Date.parse(session.expiresAt) / 1000));
    clock.advance({ days: 9 });
    pair = (await refresh(pair)).body;
    expect((await service.as(pair).get('/api/sessions/')).status).toBe(200);
    clock.advance({ days: 1, minutes: 1 });
    expect(errorOf(await service.as(pair).get('/api/sessions/')).status).toBe(401);
    expect(errorOf(await refresh(pair))).toEqual({ status: 401, code: 'INVALID_TOKEN' });
  });

  test('refuses an access token and what is no token', async () => {
    const pair = await newSession();
    for (const token of [pair.access_token, 'x', `${pair.refresh_token}x`]) {
      expect(errorOf(await anonymous.post('/api/token/refresh/', { refresh_token: token }))).toEqual({
        status: 401,
        code: 'INVALID_TOKEN',
      });
    }
    expect((await refresh(pair)).status).toBe(200);
  });
});

describe('a refresh token that is not the current one', () => {
  const changeCompany = (pair: TokenPair) =>
    service.as(pair).post('/token-login/', { email: ada.email, company_id: ada.companyId });
  const useExpired = (pair: TokenPair) => service.as(pair).get('/api/sessions/');

  async function expectEnded(...pairs: TokenPair[]): Promise<void> {
    for (const pair of pairs) expect(errorOf(await useExpired(pair))).toEqual({ status: 401, code: 'SESSION_ENDED' });
  }

  test('brings no access token in place of an expired one: that ends the session, for both of its holders', async () => {
    const stolen = await newSession();
    const current = (await refresh(stolen)).body as TokenPair;
    clock.advance({ minutes: 15, seconds: 1 });
    const answer = await useExpired(stolen);
    expect(errorOf(answer)).toEqual({ status: 401, code: 'SESSION_ENDED' });
    expect(answer.headers.get('x-access-token')).toBeNull();
    await expectEnded(stolen, current);
    expect(errorOf(await refresh(current))).toEqual({ status: 401, code: 'SESSION_ENDED' });
  });

  test('brings one within ten seconds of its rotation, when two tabs race', async () => {
    const pair = await newSession();
    clock.advance({ minutes: 15, seconds: 1 });
    await refresh(pair);
    clock.advance({ seconds: 7 });
    const served = await useExpired(pair);
    expect([served.status, served.headers.get('x-access-token')]).toEqual([200, expect.any(String)]);
  });

  test('opens no session in another company: that ends the session as well', async () => {
    const stolen = await newSession();
    const current = (await refresh(stolen)).body as TokenPair;
    clock.advance({ seconds: 11 });
    expect(errorOf(await changeCompany(stolen))).toEqual({ status: 401, code: 'SESSION_ENDED' });
    await expectEnded(stolen, current);
  });

  test('hands its 90 days on to the session in another company', async () => {
    let pair = await newSession();
    const endsAt = clock.now().getTime() + 90 * 86_400_000;
    for (let renewed = 0; renewed < 3; renewed += 1) {
      clock.advance({ days: 25 });
      pair = (await refresh(pair)).body;
    }
    const { body } = await changeCompany(pair);
    const [session] = (await service.as(body).get('/api/sessions/')).body.sessions;
    expect(Math.abs(Date.parse(session.expiresAt) - endsAt)).toBeLessThan(60_000);
    expect(expiryOf(body.refresh_token)).toBe(Math.floor(Date.parse(session.expiresAt) / 1000));
  });

  test('opens one within ten seconds of its rotation', async () => {
    const pair = await newSession();
    await refresh(pair);
    clock.advance({ seconds: 7 });
    expect((await changeCompany(pair)).status).toBe(200);
  });

  test('ends the session once, however many use it at once', async () => {
    const stolen = await newSession();
    const current = (await refresh(stolen)).body as TokenPair;
    clock.advance({ minutes: 16 });
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        [useExpired, refresh, changeCompany][index % 3]!(index % 2 === 0 ? stolen : current),
      ),
    );
    for (const { status } of answers) expect([200, 401]).toContain(status);
    await expectEnded(stolen, current);
  });
});

describe('the token pair of a WebSocket', () => {
  test('is good for all its calls and streams, however old the access token gets and whoever refreshes', async () => {
    const pair = await newSession();
    const { client, listen, close } = overWebSocket(service.url, pair);
    const first = await listen('notifications.onMine');
    const second = (await refresh(pair)).body as TokenPair;
    const current = (await refresh(second)).body as TokenPair;
    clock.advance({ minutes: 16 });
    expect((await client.sessions.list.query()).sessions).not.toEqual([]);
    const next = await listen('timers.onMine');
    expect([first.errorCode(), next.errorCode()]).toEqual([undefined, undefined]);
    expect((await service.as(current).get('/api/sessions/')).status).toBe(200);

    await service.as(current).post('/logout/');
    expect(await next.ends()).toBe('SESSION_ENDED');
    await close();
  });

  test('is good for them for longer than its refresh token lives, while the session goes on', async () => {
    const pair = await newSession();
    const { client, close } = overWebSocket(service.url, pair);
    expect((await client.sessions.list.query()).sessions).not.toEqual([]);
    clock.advance({ days: 20 });
    expect((await refresh(pair)).status).toBe(200);
    clock.advance({ days: 11 });
    expect((await client.sessions.list.query()).sessions).not.toEqual([]);
    await close();
  });

  test('opens no other session once it was replaced, which is refused and ends nothing', async () => {
    const pair = await newSession();
    const { client, close } = overWebSocket(service.url, pair);
    await client.sessions.list.query();
    const current = (await refresh(pair)).body as TokenPair;
    clock.advance({ seconds: 11 });
    const asked = client.auth.tokenLogin.mutate({ email: ada.email, company_id: ada.companyId });
    await expect(asked).rejects.toMatchObject({ data: { code: 'INVALID_TOKEN' } });
    expect((await service.as(current).get('/api/sessions/')).status).toBe(200);
    await close();
  });

  test('opens none where it has expired and is not the current one: that ends the session', async () => {
    const stolen = await newSession();
    const current = (await refresh(stolen)).body as TokenPair;
    clock.advance({ minutes: 16 });
    const { listen, close } = overWebSocket(service.url, stolen);
    expect((await listen('notifications.onMine')).errorCode()).toBe('SESSION_ENDED');
    await close();
    expect(errorOf(await refresh(current))).toEqual({ status: 401, code: 'SESSION_ENDED' });
  });
});

describe('a logout', () => {
  test('ends this session at once and no other', async () => {
    const one = await newSession();
    const other = await newSession();
    expect(await service.as(one).post('/logout/')).toMatchObject({ status: 200, body: { success: true } });
    expect(errorOf(await service.as(one).get('/api/sessions/'))).toEqual({ status: 401, code: 'SESSION_ENDED' });
    expect(errorOf(await refresh(one))).toEqual({ status: 401, code: 'SESSION_ENDED' });
    expect((await service.as(other).get('/api/sessions/')).status).toBe(200);
  });

  test('needs the pair', async () => {
    expect(errorOf(await anonymous.post('/logout/'))).toEqual({ status: 401, code: 'UNAUTHENTICATED' });
  });
});

describe('the list of sessions', () => {
  test("holds one's own, marks the current one, and each can be ended", async () => {
    const stranded = await service.registerCompany({ email: 'list@example.com' });
    const second = (await service.signIn(stranded.email)).pair;
    const listed = (await service.as(second).get('/api/sessions/')).body.sessions;
    expect(listed).toHaveLength(2);
    const current = listed.filter((session: { isCurrent: boolean }) => session.isCurrent);
    expect(current).toMatchObject([{ method: 'password', company_id: stranded.companyId, network: '127.0.0.1' }]);
    const first = listed.find((session: { isCurrent: boolean }) => !session.isCurrent);
    expect((await service.as(second).delete(`/api/sessions/${first._id}/`)).body).toEqual({ success: true });
    expect(errorOf(await service.as(stranded.pair).get('/api/sessions/'))).toEqual({
      status: 401,
      code: 'SESSION_ENDED',
    });
    expect(errorOf(await service.as(second).delete(`/api/sessions/${first._id}/`))).toEqual({
      status: 404,
      code: 'NOT_FOUND',
    });
  });

  test("does not reach another account's session", async () => {
    const mine = await service.registerCompany({ email: 'mine@example.com' });
    const theirs = await service.registerCompany({ email: 'theirs@example.com' });
    const [session] = (await theirs.get('/api/sessions/')).body.sessions;
    expect(errorOf(await mine.delete(`/api/sessions/${session._id}/`))).toEqual({ status: 404, code: 'NOT_FOUND' });
    expect((await theirs.get('/api/sessions/')).status).toBe(200);
  });
});

describe('when a session was used last', () => {
  test('is noted once a minute, of all that are used', async () => {
    const grace = await service.registerCompany({ email: 'grace@example.com' });
    const pairs = [(await service.signIn(grace.email)).pair, (await service.signIn(grace.email)).pair];
    /** Has all but the first session used, and answers when each was used last, by their age. */
    async function use(): Promise<number[]> {
      await Promise.all(pairs.map((pair) => service.as(pair).get('/api/sessions/')));
      await service.drain();
      const { body } = await service.as(pairs[0]!).get('/api/sessions/');
      const sessions: { _id: number; lastUsedAt: string }[] = body.sessions;
      return sessions.toSorted((a, b) => a._id - b._id).map(({ lastUsedAt }) => Date.parse(lastUsedAt));
    }
    const begun = await use();
    clock.advance({ seconds: 45 });
    expect(await use()).toEqual(begun);
    clock.advance({ seconds: 20 });
    const [first, ...used] = await use();
    expect(first).toBe(begun[0]);
    expect(used.map((at, index) => at - begun[index + 1]! > 60_000)).toEqual([true, true]);
  });

  /* On one connection nobody holds anything while somebody else asks. */
  test.runIf(service.database.kind === 'server')(
    'is not waited for where somebody else holds the session',
    async () => {
      const pair = await newSession();
      const { db, rollback } = service.database.begin();
      try {
        await db.selectFrom('sessions').select('session_id').forUpdate().execute();
        clock.advance({ minutes: 2 });
        expect((await service.as(pair).get('/api/sessions/')).status).toBe(200);
        const drained = service.drain().then(() => 'drained');
        expect(await Promise.race([drained, new Promise((resolve) => setTimeout(resolve, 5_000, 'waiting'))])).toBe(
          'drained',
        );
      } finally {
        await rollback();
      }
    },
  );
});

describe('a session without a company', () => {
  test('can be listed and ended, and nothing else', async () => {
    const lone = await service.registerCompany({ email: 'lone@example.com' });
    await service.database.db
      .updateTable('sessions')
      .set({ company_id: null, employee_id: null })
      .where('account_id', '=', (await accountId(lone.email))!)
      .execute();
    expect((await lone.get('/api/sessions/')).status).toBe(200);
    expect((await lone.post('/logout/')).status).toBe(200);
  });
});

async function accountId(email: string): Promise<number | undefined> {
  const row = await service.database.db
    .selectFrom('accounts')
    .select('account_id')
    .where('email', '=', email)
    .executeTakeFirst();
  return row?.account_id;
}
