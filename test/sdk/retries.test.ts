import type { ServerResponse } from 'node:http';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { answer, refuse, startAnswering } from './answering.ts';
import { startService } from '../support/service.ts';
import { waitUntil } from '../support/waiting.ts';
import { codeOf, connect, errorOf, sessionOf } from './clients.ts';
import { startWiretap } from './wiretap.ts';

const company = { company_id: 7 };
const project = { name: 'Engine' };

describe('another try', () => {
  test.each([
    ['a service that is busy', refuse(503, 'SERVICE_UNAVAILABLE', { 'retry-after': '0' })],
    ['too many requests', refuse(429, 'RATE_LIMITED', { 'retry-after': '0' })],
    ['a first try that still runs', refuse(409, 'IDEMPOTENCY_KEY_IN_USE')],
    ['a proxy that finds no service', (response: ServerResponse) => void response.writeHead(502).end('Bad gateway')],
    ['a connection that breaks', (response: ServerResponse) => void response.destroy()],
  ])('is made after %s', async (_name, failure) => {
    const server = await startAnswering(failure, failure, answer({ _id: 1 }));
    expect(await connect(server.url).projects.create(project)).toEqual({ _id: 1 });
    expect(server.seen).toHaveLength(3);
    expect(new Set(server.seen).size).toBe(1);
  });

  test.each([
    ['a conflict', refuse(409, 'DUPLICATE_TASK_LOG')],
    ['a failure inside the service', refuse(500, 'INTERNAL_ERROR')],
    ['invalid input', refuse(400, 'VALIDATION_FAILED')],
    ['a refusal', refuse(403, 'FORBIDDEN')],
  ])('is not made after %s', async (_name, failure) => {
    const server = await startAnswering(failure);
    await errorOf(connect(server.url).projects.create(project));
    expect(server.seen).toHaveLength(1);
  });

  test('of a sign-in or a new API key is made only where the service did nothing, without a key', async () => {
    const login = { email: 'a@example.com', password: 'x' };
    const lost = await startAnswering((response) => void response.destroy());
    expect(await codeOf(connect(lost.url).auth.login(login))).toBe('NETWORK_ERROR');
    expect(await codeOf(connect(lost.url).apiKeys.create({ name: 'Import', scopes: ['read'] }))).toBe('NETWORK_ERROR');
    expect(lost.seen).toEqual(['undefined', 'undefined']);
    const busy = await startAnswering(refuse(503, 'SERVICE_UNAVAILABLE', { 'retry-after': '0' }), answer({ _id: 1 }));
    expect(await connect(busy.url).apiKeys.create({ name: 'Import', scopes: ['read'] })).toEqual({ _id: 1 });
    expect(busy.seen).toEqual(['undefined', 'undefined']);
  });

  test('is not made in another session: its key is one of the session, so the effect could come twice', async () => {
    const service = await startService();
    const [ada, eve] = [await service.registerCompany(), await service.registerCompany()];
    const line = await startWiretap(service.url);
    const client = connect(line.url, { session: sessionOf(ada.pair) });
    line.loseAnswers(1);
    const call = codeOf(client.projects.create(project));
    await waitUntil(() => line.requests().length === 1);
    await client.setSession(sessionOf(eve.pair));
    expect(await call).toBe('NETWORK_ERROR');
    const totals = [ada, eve].map(async (one) => (await one.get(`/api/projects/company/${one.companyId}/`)).body.total);
    expect(await Promise.all(totals)).toEqual([1, 0]);
  });

  test('is not made in another session that began while the tokens were renewed', async () => {
    const service = await startService();
    const [ada, eve] = [await service.registerCompany(), await service.registerCompany()];
    const client = connect(service.url, {
      // Signed by nobody, but the refresh token is good.
      session: { ...sessionOf(ada.pair), accessToken: `${ada.pair.access_token.slice(0, -8)}AAAAAAAA` },
      async fetch(url, request) {
        if (new Request(url).url.endsWith('/auth.refresh')) await client.setSession(sessionOf(eve.pair));
        return fetch(url, request);
      },
    });
    expect(await codeOf(client.projects.create(project))).toBe('INVALID_TOKEN');
    expect((await eve.get(`/api/projects/company/${eve.companyId}/`)).body.total).toBe(0);
  });

  test('is made as often as was said and no more', async () => {
    const server = await startAnswering(refuse(503, 'SERVICE_UNAVAILABLE', { 'retry-after': '0' }));
    expect(await codeOf(connect(server.url, { retries: 1 }).tasks.list(company))).toBe('SERVICE_UNAVAILABLE');
    expect(server.seen).toHaveLength(2);
    await errorOf(connect(server.url, { retries: 1 }).tasks.list(company, { retries: 0 }));
    expect(server.seen).toHaveLength(3);
  });

  test('that would come too late is not waited for', async () => {
    const server = await startAnswering(refuse(429, 'RATE_LIMITED', { 'retry-after': '900' }));
    const error = await errorOf(connect(server.url).auth.login({ email: 'a@example.com', password: 'x' }));
    expect(error).toMatchObject({ code: 'RATE_LIMITED', retryAfterMs: 900_000 });
    expect(server.seen).toHaveLength(1);
  });

  test('waits until the time of day that a proxy says', async () => {
    const inAnHour = new Date(Date.now() + 3_600_000).toUTCString();
    const server = await startAnswering(
      (response) => void response.writeHead(503, { 'retry-after': inAnHour }).end('Closed for maintenance'),
      refuse(429, 'RATE_LIMITED', { 'retry-after': new Date(0).toUTCString() }),
    );
    const client = connect(server.url, { retries: 0, timeoutMs: 7_200_000 });
    const leftNow = () => Date.parse(inAnHour) - Date.now();
    const longest = leftNow();
    const { retryAfterMs } = await errorOf(client.tasks.list(company));
    expect(retryAfterMs).toBeLessThanOrEqual(longest);
    expect(retryAfterMs).toBeGreaterThanOrEqual(leftNow());
    expect(await errorOf(client.tasks.list(company))).toMatchObject({ retryAfterMs: 0 });
  });

  test('is made though the clock of the machine was put right by hours', async () => {
    const later = Date.now() + 7_200_000;
    onTestFinished(() => void vi.restoreAllMocks());
    const server = await startAnswering(
      (response) => {
        vi.spyOn(Date, 'now').mockReturnValue(later);
        response.destroy();
      },
      answer({ _id: 1 }),
    );
    expect(await connect(server.url).projects.create(project)).toEqual({ _id: 1 });
  });

  test('waits as long as the service says', async () => {
    const server = await startAnswering(refuse(503, 'SERVICE_UNAVAILABLE', { 'retry-after': '1' }), answer({}));
    const before = performance.now();
    await connect(server.url).tasks.list(company);
    expect(performance.now() - before).toBeGreaterThan(990);
  });
});

describe('a call', () => {
  test('that is aborted rejects with the reason, and is not tried again', async () => {
    const stop = new AbortController();
    const server = await startAnswering(() => stop.abort(new Error('never mind')));
    const call = connect(server.url).projects.create(project, { signal: stop.signal });
    await expect(call).rejects.toThrow('never mind');
    expect(server.seen).toHaveLength(1);
  });

  test('that is aborted between two tries is not tried again', async () => {
    const stop = new AbortController();
    const server = await startAnswering((response) => {
      refuse(503, 'SERVICE_UNAVAILABLE', { 'retry-after': '40' })(response);
      setTimeout(() => stop.abort(), 50);
    });
    const call = connect(server.url).projects.create(project, { signal: stop.signal });
    await expect(call).rejects.toMatchObject({ name: 'AbortError' });
    expect(server.seen).toHaveLength(1);
  });

  test('that was aborted before is never sent', async () => {
    const server = await startAnswering(answer({}));
    await expect(connect(server.url).tasks.list(company, { signal: AbortSignal.abort() })).rejects.toMatchObject({
      name: 'AbortError',
    });
    expect(server.seen).toEqual([]);
  });

  test('without an answer ends in time', async () => {
    const server = await startAnswering(() => {});
    const error = await errorOf(connect(server.url).tasks.list(company, { timeoutMs: 500 }));
    expect(error).toMatchObject({ code: 'TIMEOUT', status: 0, operation: 'tasks.list' });
    expect(server.seen).toHaveLength(1);
  });

  test('may be given more time than a timer can count, or all of it', async () => {
    const server = await startAnswering((response) => void setTimeout(answer({ _id: 1 }), 50, response));
    for (const ms of [Infinity, 2 ** 32]) {
      const client = connect(server.url, { timeoutMs: ms, tryTimeoutMs: ms, retries: 0 });
      expect(await client.projects.create(project)).toEqual({ _id: 1 });
    }
  });

  test('ends in time and when it is aborted, also with a fetch that does not know the signal', async () => {
    const deaf: typeof fetch = async (url, init) => fetch(url, { ...init, signal: null });
    const silent = await startAnswering(() => {});
    const half = await startAnswering((response) => void response.writeHead(200).write('{"result":'));
    for (const { url } of [silent, half]) {
      const client = connect(url, { fetch: deaf, retries: 0 });
      expect(await codeOf(client.tasks.list(company, { timeoutMs: 100 }))).toBe('TIMEOUT');
      const stop = new AbortController();
      setTimeout(() => stop.abort(new Error('never mind')), 100);
      await expect(client.tasks.list(company, { signal: stop.signal })).rejects.toThrow('never mind');
    }
  });

  test('whose first try hangs is tried again', async () => {
    const server = await startAnswering(() => {}, answer({ _id: 1 }));
    expect(await connect(server.url, { tryTimeoutMs: 100 }).projects.create(project)).toEqual({ _id: 1 });
    expect(new Set(server.seen).size).toBe(1);
    expect(server.seen).toHaveLength(2);
  });
});

test('a refresh that nobody waits for any more alarms nobody', async () => {
  const alarms: unknown[] = [];
  const alarm = (reason: unknown): void => void alarms.push(reason);
  process.on('unhandledRejection', alarm);
  onTestFinished(() => void process.off('unhandledRejection', alarm));
  const stop = new AbortController();
  const server = await startAnswering((response) => {
    stop.abort();
    response.destroy();
  });
  const session = { accessToken: 'a', refreshToken: 'b', expiresAt: 1 };
  const client = connect(server.url, { session });
  await expect(client.tasks.list(company, { signal: stop.signal })).rejects.toMatchObject({ name: 'AbortError' });
  // Waiting callers get the error.
  expect(await codeOf(client.tasks.list(company, { retries: 0 }))).toBe('NETWORK_ERROR');
  await new Promise((resolve) => setImmediate(resolve));
  expect(alarms).toEqual([]);
});
