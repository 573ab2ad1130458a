import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import type { Closing, Wire } from '../../kernel/connections.ts';

/* How events reach a caller, and what is done about one who does not take them: the service keeps little for anybody. */

/** No event is sent to a socket while more than this waits for its reader. */
const waitingBytesMax = 128 * 1024;
/** More than this, by whatever was asked for, may wait for a moment only. */
const unreadBytesMax = 1024 * 1024;
/** How long a reader may take nothing at all; they come back and go on where they were. */
const patienceMs = 10_000;
/** How long a caller has to read why they are cut off, and to say goodbye. */
const goodbyeMs = 1_000;

/** Codes from 4000 on are the service's own: their second half is the HTTP status that says the same. */
const closeCodes: Record<Closing, { code: number; reason: string }> = {
  'session ended': { code: 4401, reason: 'the session has ended: sign in again' },
  refused: { code: 4408, reason: 'nobody has signed in on this connection' },
  restart: { code: 1012, reason: 'the service restarts: connect again' },
};

/** A WebSocket: what is sent without waiting piles up, so events wait for their reader before they are sent. */
export function socketWire(socket: WebSocket, raw: Socket, network: string): Wire {
  let draining: Promise<void> | undefined;
  let wasFull = false;
  const check = setInterval(() => {
    const isFull = raw.writableLength > unreadBytesMax;
    if (isFull && wasFull) socket.terminate();
    wasFull = isFull;
  }, patienceMs / 2).unref();
  socket.once('close', () => clearInterval(check));

  async function drain(): Promise<void> {
    const given = new AbortController();
    const { signal } = given;
    const tooLong = setTimeout(() => socket.terminate(), patienceMs);
    // A cut socket is drained for good.
    await Promise.race([once(raw, 'drain', { signal }), once(raw, 'close', { signal })]).catch(() => {});
    clearTimeout(tooLong);
    given.abort();
    draining = undefined;
  }

  return {
    network,
    waitingBytes: () => raw.writableLength,
    ready: () => (raw.writableLength > waitingBytesMax && !raw.destroyed ? (draining ??= drain()) : undefined),
    close(why) {
      const { code, reason } = closeCodes[why];
      // What is being said to the subscriptions goes first.
      setTimeout(() => socket.close(code, reason), why === 'restart' ? 0 : 50);
      setTimeout(() => socket.terminate(), goodbyeMs);
    },
  };
}

/** Server-sent events: they are taken from the stream as fast as the caller reads, and so never pile up. */
export function responseWire(response: ServerResponse, network: string): Wire {
  let wasFull = false;
  const check = setInterval(() => {
    if (response.writableNeedDrain && wasFull) response.destroy();
    wasFull = response.writableNeedDrain;
  }, patienceMs).unref();
  response.once('close', () => clearInterval(check));
  return {
    network,
    waitingBytes: () => response.writableLength,
    ready: () => undefined,
    close(why) {
      // An answer that ends in order tells a client not to come back; one that breaks off makes it reconnect.
      setTimeout(() => response.destroy(), why === 'session ended' ? goodbyeMs : 0);
    },
  };
}
