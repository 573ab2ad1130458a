import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { createConnections } from '../../server/platform/connections.ts';
import type { CloseReason, Connection, Transport } from '../../server/platform/connection.ts';
import { startProxy } from '../support/proxy.ts';
import { startService } from '../support/service.ts';
import { startWork } from '../support/work.ts';
import { waitFor, waitUntil } from '../support/waiting.ts';
import { headersOf } from '../support/actor.ts';

const service = await startService();
const admin = await service.registerCompany();

afterEach(() => vi.useRealTimers());

async function open(url: string): Promise<WebSocket> {
  const socket = new WebSocket(`${url.replace('http', 'ws').replace(/\/$/, '')}/trpc?connectionParams=1`);
  onTestFinished(() => socket.terminate());
  await once(socket, 'open');
  return socket;
}

async function connections(): Promise<number> {
  return Number(/^event_connections (\d+)$/m.exec((await service.anonymous.get('/metrics')).body)![1]);
}

const signIn = (socket: WebSocket) => {
  const data = { accessToken: admin.pair.access_token, refreshToken: admin.pair.refresh_token };
  socket.send(JSON.stringify({ method: 'connectionParams', data }));
  socket.send(JSON.stringify({ id: 1, method: 'query', params: { path: 'sessions.list' } }));
  return once(socket, 'message');
};

/** Time passes for the service's own timers alone. */
const passTime = () => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });

test('who never says who they are is asked to leave after half a minute, and nobody else', async () => {
  passTime();
  const [silent, refused, known] = await Promise.all([open(service.url), open(service.url), open(service.url)]);
  refused.send(JSON.stringify({ method: 'connectionParams', data: { apiKey: 'wms_made-up' } }));
  await signIn(known);
  const closed = Promise.all([once(silent, 'close'), once(refused, 'close')]);
  vi.advanceTimersByTime(29_000);
  await service.anonymous.get('/healthz');
  expect([silent.readyState, refused.readyState]).toEqual([WebSocket.OPEN, WebSocket.OPEN]);
  vi.advanceTimersByTime(1_100);
  for (const [code, reason] of await closed)
    expect([code, String(reason)]).toEqual([4408, 'nobody has signed in on this connection']);
  expect(known.readyState).toBe(WebSocket.OPEN);
});

test('a connection whose other end is gone is given up, and one that answers is kept', async () => {
  const proxy = await startProxy(service.url, 80);
  onTestFinished(() => proxy.close());
  passTime();
  const [gone, there] = await Promise.all([open(proxy.url), open(service.url)]);
  await Promise.all([signIn(gone), signIn(there)]);
  expect(await connections()).toBe(2);
  // From now on nothing comes through, and nobody says so.
  proxy.freeze();
  const asked = once(there, 'message');
  vi.advanceTimersByTime(25_100);
  expect(String((await asked)[0])).toBe('PING');
  there.send('PONG');
  there.send(JSON.stringify({ id: 2, method: 'query', params: { path: 'sessions.list' } }));
  await once(there, 'message');
  vi.advanceTimersByTime(10_100);
  await waitFor(async () => expect(await connections()).toBe(1));
  expect(there.readyState).toBe(WebSocket.OPEN);
});

test('who has nothing to read for a while is not taken for one who does not read', async () => {
  const { taskId } = await startWork(admin);
  const { server } = service.app.server;
  const accepted: Socket[] = [];
  const accept = (socket: Socket) => void accepted.push(socket);
  server.on('connection', accept);
  onTestFinished(() => void server.off('connection', accept));

  const socket = await open(service.url);
  await signIn(socket);
  const call = request(`${service.url}/trpc/comments.onTask?input=${encodeURIComponent(JSON.stringify({ taskId }))}`, {
    agent: false,
    headers: headersOf(admin.pair),
  }).end();
  onTestFinished(() => void call.destroy());
  const [answer] = (await once(call, 'response')) as [IncomingMessage];
  let heard = '';
  answer.on('error', () => {}).on('data', (chunk: Buffer) => void (heard += String(chunk)));

  // Node says so when nothing was read or written for as long as a reader who takes nothing is tolerated.
  const subscribed = accepted.filter(({ timeout }) => timeout === 6_000);
  expect(subscribed).toHaveLength(2);
  for (const one of subscribed) one.emit('timeout');
  await admin.post('/api/task-chats/', { taskId, sender: admin.employeeId, message: 'Still there?' });
  await waitUntil(() => heard.includes('Still there?'));
  await signIn(socket);
  expect([socket.readyState, answer.closed]).toEqual([WebSocket.OPEN, false]);
});

/** A transport that does nothing but note why it is closed. */
const transportOn = (network: string, closed: CloseReason[] = []): Transport => ({
  network,
  ready: () => undefined,
  reserve: () => {},
  pause: () => {},
  resume: () => {},
  bufferedBytes: () => 0,
  close: (reason) => void closed.push(reason),
});
const tooMany = expect.objectContaining({ message: expect.stringMatching(/many/), retryAfterSeconds: 5 });

test('a network may hold so many connections that are not authenticated', () => {
  const { open, count } = createConnections();
  const closed: CloseReason[] = [];
  const transport = (network: string) => transportOn(network, closed);
  const unauthenticated = Array.from({ length: 2_000 }, () => open(transport('192.0.2.1')));
  expect(() => open(transport('192.0.2.1'))).toThrow(tooMany);
  open(transport('192.0.2.2')).closed();
  unauthenticated[0]!.authenticate({ kind: 'session', sessionId: 1, accountId: 1 });
  open(transport('192.0.2.1'));
  expect(() => open(transport('192.0.2.1'))).toThrow(tooMany);
  unauthenticated[1]!.closed();
  open(transport('192.0.2.1'));
  expect([count(), closed]).toEqual([2_001, []]);
});

test('a session may hold so many connections, and a connection so many subscriptions', () => {
  const { open, countSubscriptions } = createConnections();
  const credential = { kind: 'session', sessionId: 1, accountId: 1 } as const;
  const held = Array.from({ length: 1_000 }, () => open(transportOn('192.0.2.1')));
  held.forEach((one) => one.authenticate(credential));
  const [first] = held;
  expect(() => open(transportOn('192.0.2.1')).authenticate(credential)).toThrow(tooMany);
  const ends = Array.from({ length: 100 }, () => first!.addSubscription({ end: () => {} }));
  expect(() => first!.addSubscription({ end: () => {} })).toThrow(tooMany);
  ends[0]!();
  first!.addSubscription({ end: () => {} });
  expect(countSubscriptions()).toBe(100);
});

test('a connection that is closed while its caller is looked up counts for nobody', () => {
  const { open } = createConnections();
  const credential = { kind: 'session', sessionId: 1, accountId: 1 } as const;
  for (let cut = 0; cut < 1_000; cut += 1) {
    const one = open(transportOn('192.0.2.1'));
    one.closed();
    one.authenticate(credential);
  }
  expect(() => open(transportOn('192.0.2.1')).authenticate(credential)).not.toThrow();
});

test('who leaves while they are looked up leaves no connection behind', async () => {
  const { taskId } = await startWork(admin);
  const { credentials } = service.app.services;
  const before = await connections();
  const accepted = once(service.app.server.server, 'connection') as Promise<[Socket]>;
  const call = request(`${service.url}/trpc/comments.onTask?input=${encodeURIComponent(JSON.stringify({ taskId }))}`, {
    agent: false,
    headers: headersOf(admin.pair),
  }).on('error', () => {});
  const find = credentials.findSession;
  const lookedUp = vi.spyOn(credentials, 'findSession').mockImplementationOnce(async (sessionId) => {
    const [socket] = await accepted;
    call.destroy();
    await once(socket, 'close');
    return find(sessionId);
  });
  onTestFinished(() => lookedUp.mockRestore());
  call.end();
  await waitUntil(() => lookedUp.mock.settledResults[0]?.type === 'fulfilled');
  await service.anonymous.get('/healthz');
  expect(await connections()).toBe(before);
});

/** The response to a subscription of the admin over server-sent events, to its end. */
async function askForEvents(): Promise<string> {
  const { taskId } = await startWork(admin);
  const input = encodeURIComponent(JSON.stringify({ taskId }));
  const { access_token, refresh_token } = admin.pair;
  const headers = { authorization: `Bearer ${access_token}`, 'x-refresh-token': refresh_token };
  const answer = await fetch(`${service.url}/trpc/comments.onTask?input=${input}`, { headers });
  return answer.text();
}

/** Holds connections of the service until the test ends. */
function hold(count: number, network: string): Connection[] {
  const { connections } = service.app.services;
  const held = Array.from({ length: count }, () => connections.open(transportOn(network)));
  onTestFinished(() => held.forEach((one) => one.closed()));
  return held;
}

// A stream has begun with status 200 by then, so its error says what Retry-After would.
const refusedForNow = /"code":"TOO_MANY_CONNECTIONS".*"retryAfterSeconds":5/;

test('server-sent events beyond the connections of a network end with an error that says when to retry', async () => {
  hold(2_000, '127.0.0.1');
  expect(await askForEvents()).toMatch(refusedForNow);
});

test('server-sent events beyond the connections of a session end with an error that says when to retry', async () => {
  const { _id: sessionId } = (await admin.get('/api/sessions/')).body.sessions[0];
  for (const one of hold(1_000, '192.0.2.9')) one.authenticate({ kind: 'session', sessionId, accountId: 1 });
  expect(await askForEvents()).toMatch(refusedForNow);
});
