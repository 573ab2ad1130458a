import type pg from 'pg';
import { openReconnecting, type ReconnectingClient } from './reconnecting-client.ts';

/**
 * Short messages between all processes on one database, this one included: the streams with new events.
 * A message may be lost, so listeners also poll.
 */
export type Bus = {
  send(message: string): void;
  /** Passes on every message, and undefined where messages may have been lost. */
  listen(receive: (message: string | undefined) => void): void;
  close(): Promise<void>;
};

/** For the embedded database, which belongs to one process alone. */
export function createLocalBus(): Bus {
  const listeners = new Set<(message: string) => void>();
  return {
    send: (message) => listeners.forEach((receive) => receive(message)),
    listen: (receive) => void listeners.add(receive),
    close: async () => listeners.clear(),
  };
}

const channel = 'work_management_service';
/** Messages that wait for a running NOTIFY; further ones are dropped. */
const waitingMax = 1_000;

/**
 * LISTEN and NOTIFY, on a connection of its own that is opened with the first listener and replaced when it breaks.
 * NOTIFY is never sent inside the transaction of a write, because it makes all such transactions commit one after
 * another.
 */
export function createServerBus(config: pg.ClientConfig): Bus {
  const listeners = new Set<(message: string | undefined) => void>();
  let connection: ReconnectingClient | undefined;
  let waiting: string[] = [];
  let isSending = false;

  async function listenOn(client: pg.Client): Promise<void> {
    client.on('notification', ({ payload = '' }) => listeners.forEach((receive) => receive(payload)));
    await client.query(`listen ${channel}`);
    listeners.forEach((receive) => receive(undefined));
  }

  /** Runs one statement at a time, with all messages collected during the previous one. */
  async function flush(): Promise<void> {
    if (isSending) return;
    isSending = true;
    for (let client = connection?.current(); client && waiting.length > 0; client = connection?.current()) {
      const values = [channel, waiting];
      waiting = [];
      const text = 'select pg_notify($1, message) from unnest($2::text[]) as message';
      // A lost message costs time, not data. What fails here is the connection: another one listens as well.
      await client.query({ name: 'notify', text, values }).catch(() => connection?.drop());
    }
    isSending = false;
  }

  return {
    send(message) {
      if (!connection?.current() || waiting.length >= waitingMax) return;
      waiting.push(message);
      void flush();
    },
    listen(receive) {
      listeners.add(receive);
      connection ??= openReconnecting(config, listenOn);
    },
    async close() {
      listeners.clear();
      await connection?.close();
    },
  };
}
