import { describe, expect, test, vi } from 'vitest';
import type { ClientSession, SessionChange } from 'work-management-client';
import { codeOf, connect, errorOf, sessionOf } from './clients.ts';
import { refresh, startStaff, worn } from './staff.ts';
import { startWiretap } from './wiretap.ts';

const { service, url, admin, colleague, begin } = await startStaff();

describe('an access token that has run out', () => {
  test('is renewed once, however many calls wait for it', async () => {
    const line = await startWiretap(url);
    const onSession = vi.fn<(session: ClientSession | null, change: SessionChange) => void>();
    const session = worn(await begin());
    const client = connect(line.url, { session, onSession });
    const answers = await Promise.all(Array.from({ length: 20 }, () => client.sessions.list()));
    expect(answers.every(({ sessions }) => sessions.length > 0)).toBe(true);
    expect(line.requests().filter((request) => request === refresh)).toHaveLength(1);
    expect(client.session).toMatchObject({ id: session.id, rotation: 1, employee: { _id: admin.employeeId } });
    expect(client.session!.refreshToken).not.toBe(session.refreshToken);
    expect(client.session!.expiresAt).toBeGreaterThan(Date.now() + 10 * 60_000);
    expect(onSession.mock.calls).toEqual([[client.session, 'refreshed']]);
  });

  test('is replaced by the one that comes with an answer, where only the service knew', async () => {
    const line = await startWiretap(url);
    const { accessToken, refreshToken } = await begin();
    const kept: unknown[] = [];
    const client = connect(line.url, {
      session: { accessToken, refreshToken },
      onSession: (session) => void kept.push(session),
    });
    service.clock.advance({ minutes: 16 });
    await client.sessions.list();
    expect(client.session).toMatchObject({ refreshToken, rotation: 0 });
    expect(client.session!.accessToken).not.toBe(accessToken);
    expect(kept).toEqual([client.session]);
    await client.sessions.list();
    expect(line.headers('authorization').at(-1)).toBe(`Bearer ${client.session!.accessToken}`);
    expect(line.requests()).not.toContain(refresh);
  });

  test('is renewed by the same successor where the answer to the first try was lost and the next one comes soon', async () => {
    const line = await startWiretap(url);
    const client = connect(line.url, { session: worn(await begin()), retries: 0 });
    line.loseAnswers(1);
    expect(await codeOf(client.sessions.list())).toBe('NETWORK_ERROR');
    service.clock.advance({ seconds: 7 });
    expect((await client.sessions.list()).sessions).not.toEqual([]);
    expect(client.session).toMatchObject({ rotation: 1 });
  });

  test('is renewed where the answer to the first try does not come, while the service still repeats it', async () => {
    const line = await startWiretap(url);
    const client = connect(line.url, { session: worn(await begin()) });
    line.holdAnswers(1);
    const begun = Date.now();
    expect((await client.sessions.list()).sessions).not.toEqual([]);
    // A second try after 20 seconds, as of other calls, would be taken for a theft.
    expect(Date.now() - begun).toBeLessThan(15_000);
    expect(client.session).toMatchObject({ rotation: 1 });
  });

  test('is renewed within the limits of a client that waits less for each try', async () => {
    const line = await startWiretap(url);
    const client = connect(line.url, { session: worn(await begin()), tryTimeoutMs: 500, timeoutMs: 5_000 });
    line.holdAnswers(1);
    expect((await client.sessions.list()).sessions).not.toEqual([]);
    expect(client.session).toMatchObject({ rotation: 1 });
  });
});

describe('a session that the service has ended', () => {
  test('is an API error with a code, is removed, and is reported once', async () => {
    const session = await begin();
    const changes: unknown[] = [];
    const client = connect(url, { session, onSession: (...change) => void changes.push(change) });
    await service.as({ access_token: session.accessToken, refresh_token: session.refreshToken }).post('/logout/');
    const calls = await Promise.all(Array.from({ length: 5 }, () => errorOf(client.sessions.list())));
    expect(calls.map(({ code, status }) => `${code} ${status}`)).toEqual(Array(5).fill('SESSION_ENDED 401'));
    expect(client.session).toBeNull();
    expect(changes).toEqual([[null, 'ended']]);
  });

  test('is noticed by the refresh as well', async () => {
    const session = worn(await begin());
    const changes: unknown[] = [];
    const client = connect(url, { session, onSession: (...change) => void changes.push(change) });
    await service.as({ access_token: session.accessToken, refresh_token: session.refreshToken }).post('/logout/');
    expect(await codeOf(client.sessions.list())).toBe('SESSION_ENDED');
    expect(changes).toEqual([[null, 'ended']]);
  });

  test('does not end one that has begun since', async () => {
    const [old, next] = [await begin(), await begin()];
    const [answered, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const changes: SessionChange[] = [];
    const client = connect(url, {
      session: old,
      onSession: (_, change) => void changes.push(change),
      async fetch(...request) {
        const response = await fetch(...request);
        answered.resolve();
        await released.promise;
        return response;
      },
    });
    await service.as({ access_token: old.accessToken, refresh_token: old.refreshToken }).post('/logout/');
    const call = codeOf(client.sessions.list());
    await answered.promise;
    await client.setSession(next);
    released.resolve();
    const late = await call;
    expect(late).toBe('SESSION_ENDED');
    expect(changes).toEqual(['signed in']);
    expect((await client.sessions.list()).sessions).not.toEqual([]);
  });
});

describe('tokens that are no good', () => {
  test('are renewed and the call is made again, once', async () => {
    const line = await startWiretap(url);
    const session = await begin();
    // Signed by nobody, but the refresh token is good.
    const client = connect(line.url, {
      session: { ...session, accessToken: `${session.accessToken.slice(0, -4)}AAAA` },
    });
    expect((await client.sessions.list()).sessions).not.toEqual([]);
    expect(line.requests().map((request) => request.replace(/\?.*/, ''))).toEqual([
      'GET /trpc/sessions.list',
      refresh,
      'GET /trpc/sessions.list',
    ]);
    expect(client.session).toMatchObject({ rotation: 1 });
  });

  test('both: the session is over', async () => {
    const changes: unknown[] = [];
    const session = { accessToken: 'a.b.c', refreshToken: 'd.e.f' };
    const client = connect(url, { session, onSession: (...change) => void changes.push(change) });
    expect(await codeOf(client.sessions.list())).toBe('INVALID_TOKEN');
    expect(client.session).toBeNull();
    expect(changes).toEqual([[null, 'ended']]);
  });
});

test('a session from elsewhere is taken over, and forgotten without ending it', async () => {
  const client = connect(url);
  await client.setSession(sessionOf(colleague.pair));
  expect((await client.sessions.list()).sessions).not.toEqual([]);
  await client.setSession(null);
  expect(await codeOf(client.sessions.list())).toBe('UNAUTHENTICATED');
  expect((await colleague.get('/api/sessions/')).status).toBe(200);
});
