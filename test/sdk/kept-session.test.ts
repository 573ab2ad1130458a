import { runInNewContext } from 'node:vm';
import { describe, expect, test, vi } from 'vitest';
import { keepSessionIn, type ClientSession, type KeyValueStorage } from 'work-management-client';
import { password } from '../support/service.ts';
import { codeOf, connect } from './clients.ts';
import { refresh, startStaff, worn } from './staff.ts';
import { startWiretap } from './wiretap.ts';

const { service, url, colleague, credentials, begin } = await startStaff();

function memoryStorage(): KeyValueStorage & { kept: Map<string, string> } {
  const kept = new Map<string, string>();
  return {
    kept,
    getItem: (key) => kept.get(key) ?? null,
    setItem: (key, value) => void kept.set(key, value),
    removeItem: (key) => void kept.delete(key),
  };
}

describe('a kept session', () => {
  test('is there at once where it is kept nearby, and is waited for where it is not', async () => {
    const session = await begin();
    expect(connect(url, { loadSession: () => session }).session).toEqual(session);
    const client = connect(url, { loadSession: async () => session });
    expect(client.session).toBeNull();
    expect((await client.sessions.list()).sessions).not.toEqual([]);
    expect(client.session).toEqual(session);
    expect(await connect(url, { loadSession: async () => session }).loadSession()).toEqual(session);
  });

  test('that could not be loaded fails the call, and is asked for again by the next', async () => {
    const session = await begin();
    const loadSession = vi
      .fn<() => Promise<ClientSession>>()
      .mockRejectedValueOnce(new Error('the disk is away'))
      // When the client is created, and with the first call.
      .mockRejectedValueOnce(new Error('the disk is away'))
      .mockResolvedValue(session);
    const client = connect(url, { loadSession });
    await expect(client.sessions.list()).rejects.toThrow('the disk is away');
    expect((await client.sessions.list()).sessions).not.toEqual([]);
  });

  test('that lacks its rotation ends where its tokens are refused', async () => {
    const kept = { id: 'a session', accessToken: 'no token', refreshToken: 'no token' } as ClientSession;
    const client = connect(url, { loadSession: () => kept });
    expect(await codeOf(client.sessions.list())).toBe('INVALID_TOKEN');
    expect(client.session).toBeNull();
  });

  test('that another tab has renewed is taken over, and not renewed again', async () => {
    const storage = memoryStorage();
    const first = connect(url, keepSessionIn(storage));
    await first.auth.login(credentials);
    const line = await startWiretap(url);
    const second = connect(line.url, keepSessionIn(storage));
    expect(second.session).toEqual(first.session);

    await first.auth.refresh({ refresh_token: first.session!.refreshToken });
    service.clock.advance({ minutes: 1 });
    // The second tab believes that its token has run out, and must not use the dead one to renew it.
    const stale = connect(line.url, { ...keepSessionIn(storage), session: worn(second.session!) });
    expect((await stale.sessions.list()).sessions).not.toEqual([]);
    expect(stale.session).toEqual(first.session);
    expect(line.requests()).not.toContain(refresh);
  });

  test('that two tabs renew at the same moment goes on in both', async () => {
    const session = worn(await begin());
    const tabs = [connect(url, { session }), connect(url, { session }), connect(url, { session })];
    await Promise.all(tabs.map((tab) => tab.sessions.list()));
    expect(new Set(tabs.map((tab) => tab.session!.refreshToken)).size).toBe(1);
    await Promise.all(tabs.map((tab) => tab.sessions.list()));
  });

  test('of a person who has signed in in another tab is left alone', async () => {
    const storage = memoryStorage();
    const first = connect(url, keepSessionIn(storage));
    await first.auth.login(credentials);
    const second = connect(url, keepSessionIn(storage));
    await second.auth.login({ email: colleague.email, password });
    await first.auth.refresh({ refresh_token: first.session!.refreshToken });
    await first.auth.logout();
    expect(keepSessionIn(storage).loadSession()).toEqual(second.session);
    await second.auth.logout();
    expect(storage.kept.size).toBe(0);
  });

  test.each(['{half', '5', '[]', '{}', '{"id":"1","accessToken":"a","refreshToken":null}'])(
    'that cannot be read is none: %s',
    async (kept) => {
      const storage = memoryStorage();
      storage.setItem('mine', kept);
      const client = connect(url, keepSessionIn(storage, 'mine'));
      expect(client.session).toBeNull();
      expect(await codeOf(client.tasks.list())).toBe('UNAUTHENTICATED');
      await client.auth.login(credentials);
      expect(JSON.parse(storage.kept.get('mine')!)).toEqual(client.session);
    },
  );

  test('that a promise of another realm or library brings is waited for', async () => {
    const session = await begin();
    const loadSession = () => runInNewContext('Promise.resolve(session)', { session }) as Promise<ClientSession>;
    const client = connect(url, { loadSession });
    expect(client.session).toBeNull();
    expect((await client.sessions.list()).sessions).not.toEqual([]);
  });

  test('that cannot be loaded is not missed by who has signed in since', async () => {
    const client = connect(url, { loadSession: async () => Promise.reject(new Error('the disk is away')) });
    await client.auth.login(credentials);
    expect((await client.sessions.list()).sessions).not.toEqual([]);
    expect(await client.loadSession()).toEqual(client.session);
  });

  test('that arrives after a sign-out does not come back', async () => {
    const session = await begin();
    let arrive: (session: ClientSession) => void = () => {};
    const client = connect(url, { loadSession: async () => new Promise((resolve) => (arrive = resolve)) });
    await client.auth.login(credentials);
    await client.setSession(null);
    arrive(session);
    expect(await client.loadSession()).toBeNull();
  });
});

test('what is kept is kept in order, and before the call that caused it answers', async () => {
  const kept: string[] = [];
  const session = worn(await begin());
  const client = connect(url, {
    session,
    async onSession(next, change) {
      await new Promise((resolve) => setImmediate(resolve));
      kept.push(`${change} ${next?.rotation ?? 'none'}`);
    },
  });
  await client.sessions.list();
  expect(kept).toEqual(['refreshed 1']);
  await client.auth.logout();
  expect(kept).toEqual(['refreshed 1', 'signed out none']);
});
