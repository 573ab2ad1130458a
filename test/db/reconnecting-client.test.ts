import { createServer, type AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { openReconnecting } from '../../db/reconnecting-client.ts';
import { waitFor } from '../support/waiting.ts';

/** A message of PostgreSQL's protocol: its letter, its length and its content. */
function message(letter: string, content: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(4 + content.length);
  return Buffer.concat([Buffer.from(letter), length, content]);
}

const authenticated = message('R', Buffer.alloc(4));
const readyForQuery = message('Z', Buffer.from('I'));

test('a connection that cannot be used is replaced by one, however late its end arrives', async () => {
  let accepted = 0;
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    accepted += 1;
    const isFirst = accepted === 1;
    socket.on('error', () => {});
    socket.once('data', () => socket.write(Buffer.concat([authenticated, readyForQuery])));
    // As over a long way: the client has another connection by then.
    socket.on('end', () => setTimeout(() => socket.end(), isFirst ? 300 : 0));
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const client = openReconnecting({ host: '127.0.0.1', port, user: 'x', password: 'x' }, async () => {
    if (accepted === 1) throw new Error('a standby refuses LISTEN');
  });
  onTestFinished(() => client.close());

  await waitFor(() => expect(accepted).toBe(2));
  await delay(700);
  expect(accepted).toBe(2);
  expect(client.current()).toBeDefined();
});
