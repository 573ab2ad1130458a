import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { createConnections, type Wire } from '../../server/kernel/connections.ts';
import { startProxy } from '../support/proxy.ts';
import { startService } from '../support/service.ts';
import { startWork } from '../support/work.ts';

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
  return Number(/^event_connections (\d+)$/m.exec((await service.stranger.get('/metrics')).body)![1]);
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
  await service.stranger.get('/healthz');
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
  await vi.waitFor(async () => expect(await connections()).toBe(1), { timeout: 5_000 });
  expect(there.readyState).toBe(WebSocket.OPEN);
});

test('who has nothing to read for a while is not taken for one who does not read', async () => {
  const { taskId } = await startWork(admin);
  const socket = await open(service.url);
  await signIn(socket);
  const call = request(`${service.url}/trpc/comments.onTask?input=${encodeURIComponent(JSON.stringify({ taskId }))}`, {
    headers: { authorization: `Bearer ${admin.pair.access_token}`, 'x-refresh-token': admin.pair.refresh_token },
  }).end();
  onTestFinished(() => void call.destroy());
  const [answer] = (await once(call, 'response')) as [IncomingMessage];
  let ended = false;
  answer.on('error', () => {}).once('close', () => (ended = true));
  // Longer than a reader who takes nothing is borne with.
  await delay(6_500);
  expect([socket.readyState, ended]).toEqual([WebSocket.OPEN, false]);
});

test('a network may hold so many connections of which nobody knows whose they are', () => {
  const { open, count } = createConnections();
  const closings: string[] = [];
  const wire = (network: string): Wire => ({
    network,
    ready: () => undefined,
    expect: () => {},
    hear: () => {},
    waitingBytes: () => 0,
    close: (why) => void closings.push(why),
  });
  const strangers = Array.from({ length: 2_000 }, () => open(wire('192.0.2.1')));
  expect(() => open(wire('192.0.2.1'))).toThrow(/connections/i);
  open(wire('192.0.2.2')).gone();
  // Whoever says who they are makes room for the next stranger.
  strangers[0]!.claim({ kind: 'session', sessionId: 1, accountId: 1 });
  open(wire('192.0.2.1'));
  expect(() => open(wire('192.0.2.1'))).toThrow(/connections/i);
  strangers[1]!.gone();
  open(wire('192.0.2.1'));
  expect([count(), closings]).toEqual([2_001, []]);
});
