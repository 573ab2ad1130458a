import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { overEvents, overWebSocket } from '../support/listener.ts';
import { startProxy } from '../support/proxy.ts';
import { startService } from '../support/service.ts';
import { addTask, startWork } from '../support/work.ts';
import { waitFor } from '../support/waiting.ts';

const service = await startService({
  requestsPerMinute: 1_000,
  settings: { corsOrigins: ['https://app.example.test'] },
});
const { url } = service;
const socketUrl = `${url.replace('http', 'ws')}/trpc`;
const admin = await service.registerCompany();
const { projectId, taskId } = await startWork(admin);
const proof = { accessToken: admin.pair.access_token, refreshToken: admin.pair.refresh_token };

const sockets: WebSocket[] = [];
afterEach(() => sockets.splice(0).forEach((socket) => socket.terminate()));

/** A bare WebSocket, to say what no client would. */
async function open(options: { origin?: string; at?: string } = {}): Promise<WebSocket> {
  const { origin, at = socketUrl } = options;
  const socket = new WebSocket(at, origin === undefined ? {} : { origin });
  sockets.push(socket);
  await once(socket, 'open');
  return socket;
}

async function openSignedIn(at = socketUrl): Promise<WebSocket> {
  const socket = await open({ at: `${at}?connectionParams=1` });
  socket.send(JSON.stringify({ method: 'connectionParams', data: proof }));
  return socket;
}

const subscription = (input: object) => ({ id: 1, method: 'subscription', params: { path: 'comments.onTask', input } });

// oxlint-disable-next-line typescript/no-explicit-any -- what comes is for the test to judge
async function ask(socket: WebSocket, message: string | object): Promise<any> {
  socket.send(typeof message === 'string' ? message : JSON.stringify(message));
  const [data] = (await once(socket, 'message')) as [Buffer];
  return JSON.parse(String(data));
}

const say = (message = 'Hello') => admin.post('/api/task-chats/', { taskId, sender: admin.employeeId, message });

describe('a WebSocket', () => {
  test('takes queries and mutations, with the same errors as the other transports', async () => {
    const way = overWebSocket(url, admin.pair);
    onTestFinished(() => way.close());
    const made = await way.client.tasks.create.mutate({ projectId, title: 'By socket' });
    expect(await way.client.tasks.get.query({ task_id: made._id })).toMatchObject({ title: 'By socket' });
    await expect(way.client.tasks.get.query({ task_id: 987_654 })).rejects.toMatchObject({
      data: { code: 'NOT_FOUND', httpStatus: 404, requestId: expect.any(String), path: 'tasks.get' },
    });
    await expect(way.client.tasks.create.mutate({ projectId: -1, title: '' })).rejects.toMatchObject({
      data: { code: 'VALIDATION_FAILED', issues: [{ path: ['projectId'] }, { path: ['title'] }] },
    });
  });

  test('counts each call against the caller’s limit, on whatever connection', async () => {
    const narrow = await startService({ requestsPerMinute: 3 });
    const someone = await narrow.registerCompany();
    const codes: string[] = [];
    for (const way of [overWebSocket(narrow.url, someone.pair), overWebSocket(narrow.url, someone.pair)]) {
      for (let calls = 0; calls < 2; calls += 1)
        codes.push(
          await way.client.sessions.list.query().then(
            () => 'answered',
            (error: { data: { code: string; retryAfterSeconds: number } }) => error.data.code,
          ),
        );
      await way.close();
    }
    expect(codes).toEqual(['answered', 'answered', 'answered', 'RATE_LIMITED']);
  });

  test.each([
    ['no JSON', '{', 'MALFORMED_JSON'],
    ['nothing', '', 'MALFORMED_JSON'],
    ['no object', '7', 'MALFORMED_JSON'],
    // Refused before it has begun.
    ['an absent task', subscription({ taskId: 987_654_321 }), 'NOT_FOUND'],
    ['no task', subscription({}), 'VALIDATION_FAILED'],
    ['an unknown operation', { id: 1, method: 'query', params: { path: 'nope.none' } }, 'ROUTE_NOT_FOUND'],
    ['a wrong method', { id: 1, method: 'query', params: { path: 'auth.login' } }, 'ROUTE_NOT_FOUND'],
    ['no id', { id: null, method: 'query', params: { path: 'sessions.list' } }, 'MALFORMED_JSON'],
    ['an array for parameters', { id: 1, method: 'subscription', params: [] }, 'MALFORMED_JSON'],
    ['a subscription as a query', { id: 1, method: 'query', params: { path: 'comments.onTask' } }, 'ROUTE_NOT_FOUND'],
  ])('that says %s is told what is wrong, and is heard afterwards', async (_what, message, code) => {
    const socket = await openSignedIn();
    const { error } = await ask(socket, message);
    expect(error.data).toMatchObject({ code, requestId: expect.any(String) });
    expect(error.message).not.toMatch(/at .*:\d+/);
    const answer = await ask(socket, { id: 2, method: 'query', params: { path: 'sessions.list' } });
    expect(answer.result.data).toMatchObject({ sessions: expect.any(Array) });
  });

  test.each([
    ['no frame at all', (socket: WebSocket) => rawOf(socket).write(Buffer.from([0xff, 0xff, 0xff, 0xff])), 1002],
    ['a message over 1 MiB', (socket: WebSocket) => socket.send('x'.repeat(1024 * 1024 + 1)), 1009],
    ['text that is no UTF-8', (socket: WebSocket) => rawOf(socket).write(Buffer.from('818200000000c328', 'hex')), 1007],
  ])('that sends %s is closed, and the service lives on', async (_what, send, code) => {
    const socket = await openSignedIn();
    send(socket);
    const [closed] = (await once(socket, 'close')) as [number];
    expect(closed).toBe(code);
    expect((await service.anonymous.get('/healthz')).status).toBe(200);
    // No error of the service: any caller can do this.
    expect(service.log()).not.toContain('a call over a WebSocket failed');
  });

  test('of garbage instead of a proof is closed', async () => {
    for (const first of ['{', '7', '"x"', '{"method":"connectionParams","data":{"accessToken":7}}']) {
      const socket = await open({ at: `${socketUrl}?connectionParams=1` });
      const { id, error } = await ask(socket, first);
      expect([id, error.data.code]).toEqual([null, expect.stringMatching(/^MALFORMED/)]);
      expect(error.data.requestId).toEqual(expect.any(String));
      await once(socket, 'close');
    }
  });

  test('may be opened from the service’s own pages and the listed ones, and from no others', async () => {
    await open({ origin: 'https://app.example.test' });
    await open({ origin: 'https://api.example.test' });
    for (const origin of ['https://evil.example', 'null', 'http://127.0.0.1:1', url, 'http://api.example.test']) {
      const socket = new WebSocket(socketUrl, { origin });
      const [error] = (await once(socket, 'error')) as [Error];
      expect({ origin, told: error.message }).toEqual({ origin, told: 'Unexpected server response: 403' });
    }
  });

  test('of a service on this machine alone may be opened by each of its names, and by no other port', async () => {
    const local = await startService({ settings: { publicUrl: 'http://127.0.0.1:3000' } });
    const at = `${local.url.replace('http', 'ws')}/trpc`;
    for (const name of ['localhost', '127.0.0.1', '[::1]']) await open({ origin: `http://${name}:3000`, at });
    const socket = new WebSocket(at, { origin: 'http://localhost:3001' });
    const [error] = (await once(socket, 'error')) as [Error];
    expect(error.message).toBe('Unexpected server response: 403');
  });

  test('runs a hundred subscriptions and no more', async () => {
    const way = overWebSocket(url, admin.pair);
    onTestFinished(() => way.close());
    const listeners = await Promise.all(Array.from({ length: 100 }, () => way.listen('comments.onTask', { taskId })));
    const oneMore = await way.listen('comments.onTask', { taskId });
    expect(await oneMore.ends()).toBe('TOO_MANY_SUBSCRIPTIONS');
    listeners[0]!.stop();
    await waitFor(async () => expect((await way.listen('comments.onTask', { taskId })).errorCode()).toBeUndefined());
    await say();
    expect(await listeners[99]!.hears(1)).toHaveLength(1);
  });
});

test('tokens in a URL are refused', async () => {
  const params = encodeURIComponent(JSON.stringify(proof));
  const input = encodeURIComponent(JSON.stringify({ taskId }));
  const answer = await service.anonymous.get(`/trpc/comments.onTask?connectionParams=${params}&input=${input}`);
  expect([answer.status, answer.body.error.data.code]).toEqual([400, 'MALFORMED_REQUEST']);
  const socket = new WebSocket(`${socketUrl}?connectionParams=${params}`);
  const [error] = (await once(socket, 'error')) as [Error];
  expect(error.message).toBe('Unexpected server response: 400');
  expect(service.log()).not.toContain(admin.pair.refresh_token);
});

test('an upgrade to anything else is an ordinary request', async () => {
  for (const [path, protocol, status] of [
    ['/healthz', 'h2c', 200],
    ['/healthz', 'websocket', 200],
    ['/trpc', 'h2c', 404],
  ] as const) {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: ${protocol}\r\n\r\n`);
    const [chunk] = (await once(socket, 'data')) as [Buffer];
    expect({ path, protocol, line: String(chunk).split('\r\n')[0] }).toMatchObject({
      line: expect.stringContaining(`HTTP/1.1 ${status} `),
    });
    socket.destroy();
  }
});

test('who reads nothing is cut off at a bound and can go on later, while others hear at once', async () => {
  const large = await addTask(admin, projectId);
  const proxy = await startProxy(url, 80);
  onTestFinished(() => proxy.close());
  const stalled = await openSignedIn(`${proxy.url.replace('http', 'ws')}trpc`);
  expect(await ask(stalled, subscription({ taskId: large }))).toMatchObject({ result: { type: 'started' } });
  const way = overWebSocket(url, admin.pair);
  onTestFinished(() => way.close());
  const other = await way.listen('comments.onTask', { taskId: large });

  proxy.freeze();
  // Together more than the service and the network keep for anybody.
  const message = 'x'.repeat(60_000);
  const count = 250;
  let kept = 0;
  for (let sent = 0; sent < count; sent += 10) {
    const answers = await Promise.all(
      Array.from({ length: 10 }, () =>
        admin.post('/api/task-chats/', { taskId: large, sender: admin.employeeId, message }),
      ),
    );
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    kept = Math.max(kept, await waitingBytes());
  }
  await other.hears(count);
  expect(kept).toBeGreaterThan(100 * 1024);
  expect(kept).toBeLessThan(512 * 1024);
  await waitFor(async () => expect(await waitingBytes()).toBe(0), { timeout: 14_000 });
  await say();
  const again = await way.listen('comments.onTask', { taskId: large, lastEventId: String(count - 3) });
  expect((await again.hears(3)).map(({ id }) => id)).toEqual([count - 2, count - 1, count]);
}, 60_000);

/** The bytes in the service's memory for a subscriber who does not read. */
async function waitingBytes(): Promise<number> {
  return Number(/^event_waiting_bytes (\d+)$/m.exec((await service.anonymous.get('/metrics')).body)![1]);
}

test('a shutdown closes sockets and streams so that their clients come back', async () => {
  const other = await startService();
  const someone = await other.registerCompany();
  const work = await startWork(someone);
  const socket = new WebSocket(`${other.url.replace('http', 'ws')}/trpc`);
  await once(socket, 'open');
  const closed = once(socket, 'close');
  const events = overEvents(other.url, someone.pair);
  const listener = await events.listen('comments.onTask', { taskId: work.taskId });
  const begun = performance.now();
  await other.app.close();
  const [code] = (await closed) as [number];
  expect(code).toBe(1012);
  expect(performance.now() - begun).toBeLessThan(4_000);
  // It broke off: an end in order would tell the client to stay away.
  await delay(50);
  expect(listener.errorCode()).toBeUndefined();
  await events.close();
});

/** The TCP socket under a client's WebSocket. */
function rawOf(socket: WebSocket): { write(bytes: Buffer): void } {
  return (socket as unknown as { _socket: { write(bytes: Buffer): void } })._socket;
}
