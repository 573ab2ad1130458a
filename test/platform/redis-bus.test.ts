import { createServer, type AddressInfo, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRedisBus } from '../../server/platform/redis-bus.ts';
import { closeRedis, openRedis } from '../../server/platform/redis.ts';
import { waitUntil } from '../support/waiting.ts';

/* A Redis, as far as a subscriber asks it, that can end a connection in the moment in which it subscribes. */

const sockets = new Set<Socket>();
let cuts = 0;
let subscriptions = 0;
const redis = createServer((socket) => {
  sockets.add(socket.on('close', () => sockets.delete(socket)).on('error', () => {}));
  socket.on('data', (data) => {
    for (const command of String(data)
      .split(/^\*\d+\r\n/m)
      .slice(1)) {
      const [, name = '', , channel = ''] = command.split('\r\n');
      if (name === 'hello') socket.write('%1\r\n$6\r\nserver\r\n$5\r\nredis\r\n');
      else if (name === 'info') socket.write('$9\r\nloading:0\r\n');
      else if (name !== 'subscribe') socket.write('+OK\r\n');
      else if (cuts > 0) {
        cuts -= 1;
        socket.destroy();
      } else {
        subscriptions += 1;
        socket.write(`>3\r\n$9\r\nsubscribe\r\n$${channel.length}\r\n${channel}\r\n:1\r\n`);
        socket.write(`>3\r\n$7\r\nmessage\r\n$${channel.length}\r\n${channel}\r\n$5\r\nhello\r\n`);
      }
    }
  });
});
beforeAll(() => new Promise<void>((resolve) => void redis.listen(0, '127.0.0.1', resolve)));
afterAll(() => {
  for (const socket of sockets) socket.destroy();
  redis.close();
});

test('a connection that ends while it subscribes is replaced, and ends no process', { timeout: 15_000 }, async () => {
  const client = openRedis(`redis://127.0.0.1:${(redis.address() as AddressInfo).port}`, {
    warn() {},
    info() {},
  } as never);
  const bus = createRedisBus(client);
  const received: (string | undefined)[] = [];
  bus.listen((message) => received.push(message));
  await waitUntil(() => received.includes('hello'));

  cuts = 1;
  received.length = 0;
  for (const socket of sockets) socket.destroy();
  await waitUntil(() => subscriptions > 1 && received.includes('hello'));
  expect([cuts, received.includes(undefined)]).toEqual([0, true]);
  await bus.close();
  await closeRedis(client);
});
