import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import type { Closing, Wire } from '../../kernel/connections.ts';

/* How events reach a caller, and what is done about one who does not take them: the service keeps little for anybody. */

/**
 * A reader who takes nothing at all for so long is cut off, or after twice as long: Node looks whether anything was
 * taken as often as that. They come back and go on where they were.
 */
const patienceMs = 6_000;
/** How long a caller has to read why they are cut off, and to say goodbye. */
const goodbyeMs = 1_000;

/** Codes from 4000 on are the service's own: their second half is the HTTP status that says the same. */
const closeCodes: Record<Closing, { code: number; reason: string }> = {
  'session ended': { code: 4401, reason: 'the session has ended: sign in again' },
  refused: { code: 4408, reason: 'nobody has signed in on this connection' },
  'refused too often': { code: 4429, reason: 'too many refused calls' },
  restart: { code: 1012, reason: 'the service restarts: connect again' },
};

/** A WebSocket: what is sent without waiting piles up, so events wait for their reader before they are sent. */
export function socketWire(socket: WebSocket, raw: Socket, network: string): Wire {
  // Node's timer starts again whenever a byte is taken, or comes.
  raw.setTimeout(patienceMs);
  raw.on('timeout', () => {
    if (raw.writableLength > 0) socket.terminate();
  });

  // A caller who does not take what they asked for is not heard further until they do.
  let isHeard = true;
  let isShownOut = false;
  function hear(): void {
    if (isHeard && !isShownOut && !raw.writableNeedDrain) socket.resume();
    else socket.pause();
  }
  socket.on('message', hear);
  raw.on('drain', hear);

  let draining: Promise<void> | undefined;
  async function drain(): Promise<void> {
    const given = new AbortController();
    const { signal } = given;
    // A cut socket is drained for good.
    await Promise.race([once(raw, 'drain', { signal }), once(raw, 'close', { signal })]).catch(() => {});
    given.abort();
    draining = undefined;
  }

  // A hundred subscriptions may learn in the same moment that there is room: it is room for one event or two.
  let expected = 0;
  let sending: Promise<void> | undefined;
  async function send(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    expected = 0;
    sending = undefined;
  }

  return {
    network,
    waitingBytes: () => raw.writableLength,
    ready() {
      if (raw.writableNeedDrain) return (draining ??= drain());
      return expected > raw.writableHighWaterMark ? sending : undefined;
    },
    expect(length) {
      expected += length;
      sending ??= send();
    },
    hear(more) {
      isHeard = more;
      hear();
    },
    close(why) {
      const { code, reason } = closeCodes[why];
      isShownOut ||= why === 'refused too often';
      hear();
      // What is being said to the subscriptions goes first.
      setTimeout(() => socket.close(code, reason), why === 'restart' ? 0 : 50);
      setTimeout(() => socket.terminate(), goodbyeMs);
    },
  };
}

/** Server-sent events: they are taken from the stream as fast as the caller reads, and so never pile up. */
export function responseWire(response: ServerResponse, network: string): Wire {
  response.setTimeout(patienceMs, () => {
    if (response.writableNeedDrain) response.destroy();
  });
  return {
    network,
    waitingBytes: () => response.writableLength,
    ready: () => undefined,
    expect: () => {},
    hear: () => {},
    close(why) {
      // An answer that ends in order tells a client not to come back; one that breaks off makes it reconnect.
      setTimeout(() => response.destroy(), why === 'session ended' ? goodbyeMs : 0);
    },
  };
}
