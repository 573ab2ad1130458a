import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { setImmediate as soon } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { openConnection } from '../../bench/load/connection.ts';

/** A server that sends each answer in the given pieces, one packet each. */
async function serving(answers: string[][]) {
  const server = createServer((socket) => {
    socket.setNoDelay(true);
    socket.on('data', async () => {
      for (const piece of answers.shift() ?? []) {
        socket.write(piece);
        await soon();
        await soon();
      }
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const connection = await openConnection({ host: '127.0.0.1', port: (server.address() as AddressInfo).port });
  onTestFinished(() => {
    connection.close();
    server.close();
  });
  return () => new Promise<number>((resolve) => connection.send(Buffer.from('GET / HTTP/1.1\r\n\r\n'), resolve));
}

test.each([
  ['in one piece', ['HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody']],
  ['without a body', ['HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n']],
  ['cut inside its head', ['HTTP/1.1 200 OK\r\ncontent-le', 'ngth: 4\r\n\r', '\nbody']],
  ['cut inside its body', ['HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nb', 'o', 'dy']],
  ['in chunks', ['HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nbody\r\n', '0\r\n\r\n']],
  [
    'in chunks, cut inside the last',
    ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r', '\n\r\n'],
  ],
])('the load generator takes an answer %s as one, and reads the next as the next', async (_, pieces) => {
  const send = await serving([pieces, ['HTTP/1.1 503 Busy\r\ncontent-length: 0\r\n\r\n'], pieces]);
  expect(await send()).toBe(200);
  expect(await send()).toBe(503);
  expect(await send()).toBe(200);
});
