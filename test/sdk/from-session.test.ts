import { describe, expect, test } from 'vitest';
import { createClient, type ApiKeyScope, type Client, type ClientSession } from 'work-management-client';
import { password, startService } from '../support/service.ts';
import { startWork } from '../support/work.ts';
import { codeOf, connect, errorOf, sessionOf } from './clients.ts';
import { startWiretap } from './wiretap.ts';

const service = await startService();
const { url } = service;
const admin = await service.registerCompany();
const colleague = await service.addEmployee(admin);
const neighbour = await service.registerCompany({ name: 'Compilers' });
const { taskId } = await startWork(admin);

/** A session of somebody who has signed in with the client. */
async function signedIn({ email }: { email: string }): Promise<ClientSession> {
  const client = createClient({ baseUrl: url });
  await client.auth.login({ email, password });
  return client.session!;
}

await service.signIn(admin.email);
await service.signIn(colleague.email);
const session = await signedIn(admin);

describe('what the session knows may be left out:', () => {
  test('the company', async () => {
    const client = connect(url, { session });
    expect((await client.company.get()).company).toMatchObject({ company_id: admin.companyId });
    const titles = [];
    for await (const { title } of client.tasks.list({ status: 'todo' })) titles.push(title);
    expect(titles).toEqual(['Turn the crank']);
    const file = await client.timesheets.csv({ from: '2026-03-01', to: '2026-03-31' });
    expect(await file.text()).toContain('Total');
    const made = await client.employees.create({ first_name: 'Alan', last_name: 'Turing', email: 'alan@example.com' });
    expect(made.companyId).toBe(admin.companyId);
  });

  test('the caller', async () => {
    const client = connect(url, { session: await signedIn(colleague) });
    const { sender, _id: comment_id } = await client.comments.create({ taskId, message: 'Done.' });
    expect(sender._id).toBe(colleague.employeeId);
    expect(await client.comments.like({ comment_id })).toEqual({ likeCount: 1, likedByMe: true });
    const times = { start_time: '2026-03-02T09:00:00Z', end_time: '2026-03-02T10:00:00Z' };
    expect(await client.taskLogs.create({ task_id: taskId, ...times })).toMatchObject({ userId: colleague.employeeId });
    expect((await client.notifications.list()).total).toBe(0);
    expect(await client.timers.get()).toEqual({ timer: null });
  });

  test('not if it is given: another one is taken as it is', async () => {
    const client = connect(url, { session });
    expect(await codeOf(client.tasks.list({ company_id: neighbour.companyId }))).toBe('NOT_FOUND');
    const times = { start_time: '2026-03-03T09:00:00Z', end_time: '2026-03-03T10:00:00Z' };
    const log = await client.taskLogs.create({ task_id: taskId, employee_id: colleague.employeeId, ...times });
    expect(log.userId).toBe(colleague.employeeId);
  });

  test('not if it is undefined, which is a mistake', async () => {
    const client = connect(url, { session });
    const mistaken = { task_id: taskId, employee_id: undefined as unknown as number };
    const times = { start_time: '2026-03-04T09:00:00Z', end_time: '2026-03-04T10:00:00Z' };
    const error = await errorOf(client.taskLogs.create({ ...mistaken, ...times }));
    expect(error).toMatchObject({ code: 'VALIDATION_FAILED', issues: [{ path: ['employee_id'], code: 'required' }] });
  });
});

test('a session that is being loaded is waited for, within the limits of the call', async () => {
  const slow = (ms: number) => async () => {
    await new Promise((resolve) => setTimeout(resolve, ms));
    return session;
  };
  expect((await connect(url, { loadSession: slow(20) }).tasks.list()).total).toBe(1);
  const waiting = connect(url, { loadSession: slow(60_000), retries: 0 });
  const never = new AbortController();
  const aborted = waiting.tasks.list({}, { signal: never.signal });
  never.abort(new Error('left'));
  await expect(aborted).rejects.toThrow('left');
  expect(await codeOf(waiting.tasks.list({}, { timeoutMs: 30 }))).toBe('TIMEOUT');
});

test('a session that cannot be loaded fails the calls that need it, and no others', async () => {
  const client = connect(url, { loadSession: async () => Promise.reject(new Error('no disk')) });
  await expect(client.tasks.list()).rejects.toThrow('no disk');
  expect(await client.auth.verifyEmail({ email: 'ada@example.com' })).toEqual({ success: true });
});

describe('where the session does not know it, no request is made:', () => {
  async function asking(options: Parameters<typeof connect>[1]): Promise<{ client: Client; requests(): string[] }> {
    const line = await startWiretap(url);
    return { client: connect(line.url, options), requests: line.requests };
  }

  test('nobody is signed in', async () => {
    const { client, requests } = await asking({});
    for (const call of [client.tasks.list(), client.timesheets.csv({ from: '2026-03-01', to: '2026-03-31' })])
      expect(await errorOf(call)).toMatchObject({
        code: 'UNAUTHENTICATED',
        status: 401,
        message: 'Nobody is signed in: sign in first (client.auth.login), or create the client with an apiKey.',
      });
    expect(requests()).toEqual([]);
  });

  test('the session has no company', async () => {
    const { client, requests } = await asking({ session: sessionOf(admin.pair) });
    expect(await errorOf(client.tasks.list())).toMatchObject({
      code: 'COMPANY_REQUIRED',
      status: 403,
      message: 'tasks.list needs company_id, and the session has none: give it, or sign in to a company.',
    });
    expect(await codeOf(client.notifications.countUnread())).toBe('COMPANY_REQUIRED');
    expect(requests()).toEqual([]);
  });
});

test('after a sign-out the company of the session before is not used', async () => {
  const client = connect(url, { session: await signedIn(admin) });
  expect((await client.tasks.list()).total).toBe(1);
  await client.auth.logout();
  expect(await codeOf(client.tasks.list())).toBe('UNAUTHENTICATED');
});

describe('an API key', () => {
  const keyWith = async (scopes: ApiKeyScope[]) =>
    (await connect(url, { session }).apiKeys.create({ name: 'Report', scopes })).key;

  async function asking(apiKey: string, options: Parameters<typeof connect>[1] = {}) {
    const line = await startWiretap(url);
    const asked = () => line.requests().filter((request) => request.includes('apiKeys.getCurrent')).length;
    return { client: connect(line.url, { apiKey, ...options }), asked, requests: line.requests };
  }

  test('knows whose it is: asked when it is first needed, once for all calls', async () => {
    const { client, asked, requests } = await asking(await keyWith(['read', 'write']));
    expect((await client.tasks.list({ company_id: admin.companyId })).total).toBe(1);
    expect(asked()).toBe(0);
    const [tasks, unread, file] = await Promise.all([
      client.tasks.list(),
      client.notifications.countUnread(),
      client.timesheets.csv({ from: '2026-03-01', to: '2026-03-31' }),
    ]);
    expect([tasks.total, unread.unread, file.filename.endsWith('.csv')]).toEqual([1, 0, true]);
    const { sender } = await client.comments.create({ taskId, message: 'By script.' });
    expect(sender._id).toBe(admin.employeeId);
    expect(asked()).toBe(1);
    expect(requests().length).toBe(6);
  });

  test('is asked again if the first answer failed, and named where it is refused', async () => {
    let failures = 0;
    const fetch: typeof globalThis.fetch = async (address, init) => {
      // oxlint-disable-next-line typescript/no-base-to-string
      if (String(address).includes('getCurrent') && (failures += 1) === 1) return new Response('', { status: 500 });
      return globalThis.fetch(address, init);
    };
    const { client } = await asking(await keyWith(['tasks:read']), { fetch });
    expect(await codeOf(client.tasks.list())).toBe('UNEXPECTED_ANSWER');
    expect((await client.tasks.list()).total).toBe(1);
    const unknown = await asking(`wms_${'a'.repeat(43)}`);
    expect((await errorOf(unknown.client.tasks.list())).message).toContain('The API key is refused');
  });

  test('gives up waiting with its call, and the others go on', async () => {
    const fetch: typeof globalThis.fetch = async (address, init) => {
      await new Promise((resolve) => setTimeout(resolve, 100));
      return globalThis.fetch(address, init);
    };
    const { client } = await asking(await keyWith(['tasks:read']), { fetch });
    const leaving = new AbortController();
    const [left, stayed] = [client.tasks.list({}, { signal: leaving.signal }), client.tasks.list()];
    leaving.abort(new Error('left'));
    await expect(left).rejects.toThrow('left');
    expect((await stayed).total).toBe(1);
  });

  test('tells which scopes it lacks', async () => {
    const { client } = await asking(await keyWith(['tasks:read']));
    expect(await errorOf(client.taskLogs.listByTask({ task_id: 1 } as never))).toMatchObject({
      code: 'SCOPE_REQUIRED',
      missingScopes: ['time:read'],
    });
  });
});

describe('whoAmI() tells', () => {
  const me = { employee: { _id: admin.employeeId, email: admin.email, isAdmin: true } };
  const place = { company_id: admin.companyId, name: 'Analytical Engines', timezone: 'UTC', closesAt: null };

  test('the same with a key and with a session, and of a key its scopes', async () => {
    const client = connect(url, { session });
    const { key } = await client.apiKeys.create({ name: 'Widget', scopes: ['time:read', 'time:write'] });
    const withSession = await client.whoAmI();
    expect(withSession).toMatchObject({ ...me, company: place, key: null });
    const withKey = await connect(url, { apiKey: key }).whoAmI();
    expect(withKey).toMatchObject({ key: { name: 'Widget', scopes: ['time:read', 'time:write'] } });
    expect({ ...withKey, key: null }).toEqual(withSession);
  });

  test('who is nobody, or in no company', async () => {
    expect(await codeOf(connect(url).whoAmI())).toBe('UNAUTHENTICATED');
    expect(await codeOf(connect(url, { session: sessionOf(admin.pair) }).whoAmI())).toBe('COMPANY_REQUIRED');
  });
});
