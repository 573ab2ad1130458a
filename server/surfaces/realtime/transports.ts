import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import type { CloseReason, Transport } from '../../platform/connection.ts';

/* How events are sent, and how little is buffered for a caller that does not read. */

/**
 * A caller that reads nothing for this long, or twice as long, is cut off: Node checks at this interval. It reconnects and
 * continues at its cursor.
 */
const unreadMs = 6_000;
/** The time that a caller has to read the reason and to close the connection itself. */
const closeMs = 1_000;

/** Codes from 4000 on are the service's own: 4000 and the HTTP status of the same meaning. */
const closeCodes: Record<CloseReason, { code: number; reason: string }> = {
  'session ended': { code: 4401, reason: 'the session has ended: sign in again' },
  refused: { code: 4408, reason: 'nobody has signed in on this connection' },
  'refused too often': { code: 4429, reason: 'too many refused calls' },
  restart: { code: 1012, reason: 'the service restarts: connect again' },
};

/** A WebSocket buffers sent data without bound, so each event waits for room first. */
export function webSocketTransport(socket: WebSocket, raw: Socket, network: string): Transport {
  // Node restarts the timer with each byte that is read or written.
  raw.setTimeout(unreadMs);
  raw.on('timeout', () => {
    if (raw.writableLength > 0) socket.terminate();
  });

  // No call is read while earlier answers are unread.
  let isPaused = false;
  let isRefused = false;
  function pauseOrResume(): void {
    if (isPaused || isRefused || raw.writableNeedDrain) socket.pause();
    else socket.resume();
  }
  socket.on('message', pauseOrResume);
  raw.on('drain', pauseOrResume);

  return {
    network,
    bufferedBytes: () => raw.writableLength,
    ...roomOf(raw),
    pause() {
      isPaused = true;
      pauseOrResume();
    },
    resume() {
      isPaused = false;
      pauseOrResume();
    },
    close(closeReason) {
      const { code, reason } = closeCodes[closeReason];
      isRefused ||= closeReason === 'refused too often';
      pauseOrResume();
      // The errors of the subscriptions are sent first.
      setTimeout(() => socket.close(code, reason), closeReason === 'restart' ? 0 : 50);
      setTimeout(() => socket.terminate(), closeMs);
    },
  };
}

/** Whether a socket has room for the next event. */
function roomOf(raw: Socket): Pick<Transport, 'ready' | 'reserve'> {
  let draining: Promise<void> | undefined;
  async function drain(): Promise<void> {
    const settled = new AbortController();
    const { signal } = settled;
    // A closed socket never drains.
    await Promise.race([once(raw, 'drain', { signal }), once(raw, 'close', { signal })]).catch(() => {});
    settled.abort();
    draining = undefined;
  }

  // A hundred subscriptions may ask in one tick for room that is enough for one or two events.
  let reserved = 0;
  let sending: Promise<void> | undefined;
  async function untilSent(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    reserved = 0;
    sending = undefined;
  }

  return {
    ready() {
      if (raw.writableNeedDrain) return (draining ??= drain());
      return reserved > raw.writableHighWaterMark ? sending : undefined;
    },
    reserve(length) {
      reserved += length;
      sending ??= untilSent();
    },
  };
}

/** Server-sent events are taken from the stream as fast as the caller reads, so they need no waiting here. */
export function serverSentEventsTransport(response: ServerResponse, network: string): Transport {
  response.setTimeout(unreadMs, () => {
    if (response.writableNeedDrain) response.destroy();
  });
  return {
    network,
    bufferedBytes: () => response.writableLength,
    ready: () => undefined,
    reserve: () => {},
    pause: () => {},
    resume: () => {},
    close(reason) {
      // A response that ends in order tells a client to stop; one that breaks off makes it reconnect.
      setTimeout(() => response.destroy(), reason === 'session ended' ? closeMs : 0);
    },
  };
}
