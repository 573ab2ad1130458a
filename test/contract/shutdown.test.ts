import { connect, type Socket } from 'node:net';
import { once } from 'node:events';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { errorOf } from '../support/actor.ts';
import { startService } from '../support/service.ts';
import { parseAnswer } from '../support/socket.ts';

const service = await startService();
const { anonymous, url, app, database } = service;
const admin = await service.registerCompany();

async function ask(socket: Socket, path: string) {
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
  const [chunk] = (await once(socket, 'data')) as [Buffer];
  return parseAnswer(chunk.toString());
}

test('a shutdown cuts off a caller who does not read', async () => {
  const other = await startService();
  const deaf = connect(Number(new URL(other.url).port), '127.0.0.1');
  // Together more than the network takes in unread.
  deaf.write('GET /docs/assets/swagger-ui-bundle.js HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(10));
  await once(deaf, 'data');
  deaf.pause();
  const closed = once(deaf, 'close');
  await other.app.close();
  deaf.resume();
  await expect(closed).resolves.toBeDefined();
});

test('a WebSocket that is asked for during a shutdown is refused, and does not hold it up', async () => {
  const other = await startService();
  const socket = connect(Number(new URL(other.url).port), '127.0.0.1');
  const upgrade = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: AAAA'];
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  await once(socket, 'connect');
  const closing = other.app.close();
  socket.write(`GET /trpc HTTP/1.1\r\nHost: x\r\n${upgrade.join('\r\n')}\r\n\r\n`);
  await once(socket, 'close');
  expect(parseAnswer(Buffer.concat(chunks).toString())).toMatchObject({ status: 503, headers: { 'retry-after': '2' } });
  await closing;
});

test('a shutdown finishes what has begun, sends newcomers away in good order, and then closes', async () => {
  const old = connect(Number(new URL(url).port), '127.0.0.1');
  expect(await ask(old, '/healthz')).toMatchObject({ status: 200, headers: { connection: 'keep-alive' } });

  const held = database.begin();
  await sql`lock table sessions in access exclusive mode`.execute(held.db);
  const taken = once(app.server.server, 'request');
  const begun = admin.get('/api/sessions/');
  await taken;

  const closing = app.close();
  const onOldConnection = await ask(old, '/employee/me/1/');
  expect(onOldConnection).toMatchObject({ status: 503, headers: { connection: 'close', 'retry-after': '2' } });
  expect(JSON.parse(onOldConnection.body)).toMatchObject({ code: 'SERVICE_UNAVAILABLE', status: 503 });
  const newcomer = await anonymous.post('/login/', { email: 'a@example.com', password: 'x' });
  expect(errorOf(newcomer)).toEqual({ status: 503, code: 'SERVICE_UNAVAILABLE' });
  expect(newcomer.headers.get('retry-after')).toBe('2');
  await expect(anonymous.trpc.auth.login.mutate({ email: 'a@example.com', password: 'x' })).rejects.toMatchObject({
    data: { code: 'SERVICE_UNAVAILABLE', httpStatus: 503 },
  });
  expect((await anonymous.get('/healthz')).status).toBe(200);
  expect(errorOf(await anonymous.get('/readyz'))).toEqual({ status: 503, code: 'SERVICE_UNAVAILABLE' });

  await held.rollback();
  const finished = await begun;
  expect([finished.status, finished.headers.get('connection')]).toEqual([200, 'close']);
  await closing;
  await expect(anonymous.get('/healthz')).rejects.toThrow('fetch failed');
});
