import { randomUUID } from 'node:crypto';
import type { Bus } from '../../db/bus.ts';

/* A message on the bus holds the identifier of its sender and, one per line, the keys of streams with new events. */

/** The longest message that every bus carries: NOTIFY takes 8,000 bytes. */
const messageBytesMax = 7_000;
const allStreams = '*';
/**
 * The shortest time between two messages. Most writes have events, so a busy process would send one in every tick.
 */
const intervalMs = 10;

/** The streams with new events that this process was notified of. */
export type BusNotifications = {
  /** Notifies this process at once, and all others over the bus. */
  send(streamKeys: readonly string[]): void;
  /** Notifies this process only. */
  sendLocally(streamKey: string): void;
  /** Starts receiving notifications of other processes. */
  listen(): void;
  /** Makes the next `take` answer with all streams. */
  addAll(): void;
  /** The streams notified since the last call. */
  take(): string[] | 'all';
};

export function createBusNotifications(bus: Bus, wake: () => void): BusNotifications {
  let isAll = false;
  const received = new Set<string>();
  const unsent = new Set<string>();
  const self = randomUUID();
  let sentAt = -Infinity;

  /** An undefined message stands for messages that may have been lost. */
  function receive(message: string | undefined): void {
    const [sender, ...streamKeys] = message?.split('\n') ?? ['', allStreams];
    if (sender === self) return;
    if (streamKeys.includes(allStreams)) isAll = true;
    else for (const streamKey of streamKeys) received.add(streamKey);
    wake();
  }

  /** Sends the notifications of one tick as one message, or those since the last one if that was just sent. */
  function scheduleFlush(): void {
    const waitMs = sentAt + intervalMs - performance.now();
    if (waitMs > 0) setTimeout(flush, waitMs).unref();
    else setImmediate(flush);
  }

  function flush(): void {
    sentAt = performance.now();
    const message = [self, ...unsent].join('\n');
    unsent.clear();
    bus.send(Buffer.byteLength(message) > messageBytesMax ? `${self}\n${allStreams}` : message);
  }

  return {
    send(streamKeys) {
      if (streamKeys.length === 0) return;
      if (unsent.size === 0) scheduleFlush();
      for (const streamKey of streamKeys) {
        unsent.add(streamKey);
        received.add(streamKey);
      }
      wake();
    },
    sendLocally(streamKey) {
      received.add(streamKey);
      wake();
    },
    listen: () => bus.listen(receive),
    addAll: () => void (isAll = true),
    take() {
      const streamKeys = isAll ? 'all' : [...received];
      isAll = false;
      received.clear();
      return streamKeys;
    },
  };
}
