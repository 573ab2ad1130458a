import { randomUUID } from 'node:crypto';
import type { Bus } from '../../db/bus.ts';

/*
 * A message on the bus is the name of the process that sends it and, each on a line of its own, the streams that have
 * news.
 */

/** Longer than this a message is not understood by all who carry it. */
const messageBytesMax = 7_000;
const all = '*';

/** Which streams have news, as far as somebody has said so. */
export type WakeUps = {
  /** Says it in this process at once, and to all others. */
  send(streams: readonly string[]): void;
  /** Says it in this process only. */
  look(stream: string): void;
  /** Hears what others say, from now on. */
  listen(): void;
  all(): void;
  /** What has come together; asking forgets it. */
  take(): string[] | 'all';
};

export function createWakeUps(bus: Bus, wake: () => void): WakeUps {
  let isAll = false;
  const streams = new Set<string>();
  const waiting = new Set<string>();
  const self = randomUUID();

  function hear(message: string | undefined): void {
    const [sender, ...written] = message?.split('\n') ?? ['', all];
    // What it says itself it knows, and has looked already.
    if (sender === self) return;
    if (written.includes(all)) isAll = true;
    else for (const stream of written) streams.add(stream);
    wake();
  }

  /** What is said within one turn of the event loop goes out as one message. */
  function flush(): void {
    const message = [self, ...waiting].join('\n');
    waiting.clear();
    bus.send(Buffer.byteLength(message) > messageBytesMax ? `${self}\n${all}` : message);
  }

  return {
    send(written) {
      if (written.length === 0) return;
      if (waiting.size === 0) setImmediate(flush);
      for (const stream of written) {
        waiting.add(stream);
        streams.add(stream);
      }
      wake();
    },
    look(stream) {
      streams.add(stream);
      wake();
    },
    listen: () => bus.listen(hear),
    all: () => void (isAll = true),
    take() {
      const answer = isAll ? 'all' : [...streams];
      isAll = false;
      streams.clear();
      return answer;
    },
  };
}
