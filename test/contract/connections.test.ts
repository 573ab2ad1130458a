import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { networkOf } from '../../server/surfaces/http/network.ts';
import { startService } from '../support/service.ts';
import { parseAnswer } from '../support/socket.ts';
import { waitUntil } from '../support/waiting.ts';

/* Addresses of this machine beside 127.0.0.1 stand for other networks: only that one and ::1 are the machine's own. */

const max = 3;
const service = await startService({ settings: { connectionsPerNetwork: max, trustProxy: ['127.0.0.64/26'] } });
const { url } = service;
const port = Number(new URL(url).port);
const admin = await service.registerCompany();
const proof = `Authorization: Bearer ${admin.pair.access_token}\r\nX-Refresh-Token: ${admin.pair.refresh_token}\r\n`;

const sockets: Socket[] = [];
afterEach(() => Promise.all(sockets.splice(0).map(cut)));

async function cut(socket: Socket): Promise<void> {
  if (!socket.closed) await once(socket.destroy(), 'close');
}

async function open(network: string, { allowHalfOpen = false } = {}): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', localAddress: network, allowHalfOpen });
  sockets.push(socket.on('error', () => {}));
  await once(socket, 'connect');
  return socket;
}

/** What a request on a connection is answered; nothing is sent where the answer came by itself. */
async function ask(socket: Socket, path = '/healthz', headers = '') {
  const coming = once(socket, 'data') as Promise<[Buffer]>;
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`);
  const [data] = await coming;
  return parseAnswer(String(data));
}

/** Whether anything comes before the end. */
async function isAnswered(socket: Socket): Promise<boolean> {
  if (!socket.closed) await Promise.race(['data', 'end', 'close'].map((event) => once(socket, event)));
  return socket.bytesRead > 0;
}

const statusFrom = async (network: string) => (await ask(await open(network))).status;
const refusedSoFar = async () =>
  Number(/^connections_refused_total (\d+)$/m.exec((await service.anonymous.get('/metrics')).body as string)![1]);

async function fill(network: string): Promise<Socket[]> {
  const opened: Socket[] = [];
  for (let count = 0; count < max; count += 1) {
    opened.push(await open(network));
    // The service has seen it when it answers.
    expect((await ask(opened.at(-1)!)).status).toBe(200);
  }
  return opened;
}

describe('connections of one network on which nobody has shown who they are', () => {
  test('are refused beyond their limit with 429 before anything is sent, told in metrics and log; others are served', async () => {
    const before = await refusedSoFar();
    await fill('127.0.0.2');
    const refused = await open('127.0.0.2');
    const [data] = (await once(refused, 'data')) as [Buffer];
    await once(refused, 'end');
    const { status, headers, body } = parseAnswer(String(data));
    expect([status, headers['content-type'], headers['connection']]).toEqual([
      429,
      'application/problem+json',
      'close',
    ]);
    expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    expect(JSON.parse(body)).toMatchObject({ code: 'TOO_MANY_CONNECTIONS', requestId: headers['x-request-id'] });
    expect(await statusFrom('127.0.0.3')).toBe(200);
    expect(await statusFrom('127.0.0.1')).toBe(200);
    expect(await refusedSoFar()).toBe(before + 1);
    expect(service.log()).toMatch(
      /"security":"refused","code":"TOO_MANY_CONNECTIONS","status":429,"network":"127.0.0.2"/,
    );
  });

  test('count no longer when they close', async () => {
    const [first] = await fill('127.0.0.4');
    expect(await statusFrom('127.0.0.4')).toBe(429);
    first!.destroy();
    await waitUntil(async () => (await statusFrom('127.0.0.4')) === 200);
    // The place is taken again.
    expect(await statusFrom('127.0.0.4')).toBe(429);
  });

  test('are cut without an answer where too many of them are being refused', async () => {
    await fill('127.0.0.5');
    // They do not say goodbye when they are told to.
    const refused = await Promise.all(
      Array.from({ length: 40 }, () => open('127.0.0.5', { allowHalfOpen: true }).then(isAnswered)),
    );
    const count = refused.filter(Boolean).length;
    expect(count).toBeGreaterThan(0);
    expect(count).toBeLessThan(20);
  });

  test.each([
    ['a GET', '/api/sessions/'],
    ['a call of tRPC', '/trpc/sessions.list'],
  ])('count no longer once a good credential came on them, by %s', async (_how, path) => {
    const network = path.startsWith('/trpc') ? '127.0.0.6' : '127.0.0.7';
    const opened = await fill(network);
    for (const socket of opened) expect((await ask(socket, path, proof)).status).toBe(200);
    await fill(network);
    expect(await statusFrom(network)).toBe(429);
    // One that counts no longer is not taken off twice.
    await Promise.all(opened.map(cut));
    expect((await service.anonymous.get('/healthz')).status).toBe(200);
    expect(await statusFrom(network)).toBe(429);
  });

  test('count no longer once a write came on them whose caller was found before its body', async () => {
    const opened = await fill('127.0.0.8');
    for (const socket of opened) {
      const coming = once(socket, 'data');
      socket.write(`POST /api/projects/ HTTP/1.1\r\nHost: x\r\n${proof}Content-Length: 2\r\n`);
      socket.write('Content-Type: application/json\r\n\r\n{}');
      await coming;
    }
    expect(await fill('127.0.0.8')).toHaveLength(max);
  });

  test('count on with a wrong credential', async () => {
    const opened = await fill('127.0.0.9');
    for (const socket of opened)
      expect((await ask(socket, '/api/sessions/', 'Authorization: Bearer wms_wrong\r\n')).status).toBe(401);
    expect(await statusFrom('127.0.0.9')).toBe(429);
  });

  test('count no longer once a WebSocket has said who is calling', async () => {
    const { access_token: accessToken, refresh_token: refreshToken } = admin.pair;
    for (let count = 0; count < 2 * max; count += 1) {
      const socket = new WebSocket(`ws://127.0.0.1:${port}/trpc?connectionParams=1`, { localAddress: '127.0.0.10' });
      await once(socket, 'open');
      socket.send(JSON.stringify({ method: 'connectionParams', data: { accessToken, refreshToken } }));
      socket.send(JSON.stringify({ id: 1, method: 'query', params: { path: 'sessions.list' } }));
      const [answer] = (await once(socket, 'message')) as [Buffer];
      expect(JSON.parse(String(answer))).toMatchObject({ result: { type: 'data' } });
      sockets.push((socket as unknown as { _socket: Socket })._socket);
    }
  });

  test('are not counted for the machine itself and for proxies that are trusted: everybody comes through them', async () => {
    for (const network of ['127.0.0.1', '127.0.0.64'])
      for (let count = 0; count < 3 * max; count += 1) expect(await statusFrom(network)).toBe(200);
    await fill('127.0.0.128');
    expect(await statusFrom('127.0.0.128')).toBe(429);
  });
});

test.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::1', '2001:db8:1:2::/64'],
  ['2001:DB8::1', '2001:db8:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['192.0.2.7:49152', '192.0.2.7'],
  ['[2001:db8:1:2::1]:49152', '2001:db8:1:2::/64'],
])('%s is of the network %s', (address, network) => expect(networkOf(address)).toBe(network));
