import type pg from 'pg';
import { keepConnected, type KeptConnection } from './kept-connection.ts';

/**
 * Short messages between all processes on one database, this one included: "look there, something was written".
 * A message may be lost, so whoever listens must also look from time to time without being told.
 */
export type Bus = {
  send(message: string): void;
  /** Hears every message, and undefined where some may have been missed. */
  listen(hear: (message: string | undefined) => void): void;
  close(): Promise<void>;
};

/** For the embedded database, which belongs to one process alone. */
export function createLocalBus(): Bus {
  const listeners = new Set<(message: string) => void>();
  return {
    send: (message) => listeners.forEach((hear) => hear(message)),
    listen: (hear) => void listeners.add(hear),
    close: async () => listeners.clear(),
  };
}

const channel = 'work_management_service';
/** What may stand behind a NOTIFY that is still running; more is dropped. */
const waitingMax = 1_000;

/**
 * LISTEN and NOTIFY, on a connection of its own that is opened with the first listener and replaced when it breaks.
 * It is never sent inside the transaction of a write: a NOTIFY makes all such transactions commit one after another.
 */
export function createServerBus(config: pg.ClientConfig): Bus {
  const listeners = new Set<(message: string | undefined) => void>();
  let connection: KeptConnection | undefined;
  let waiting: string[] = [];
  let isSending = false;

  async function listenOn(client: pg.Client): Promise<void> {
    client.on('notification', ({ payload = '' }) => listeners.forEach((hear) => hear(payload)));
    await client.query(`listen ${channel}`);
    listeners.forEach((hear) => hear(undefined));
  }

  /** One statement at a time, with all that has come together meanwhile. */
  async function flush(): Promise<void> {
    if (isSending) return;
    isSending = true;
    for (let client = connection?.current(); client && waiting.length > 0; client = connection?.current()) {
      const values = [channel, waiting];
      waiting = [];
      const text = 'select pg_notify($1, message) from unnest($2::text[]) as message';
      // A lost message costs time, not data.
      await client.query({ name: 'notify', text, values }).catch(() => {});
    }
    isSending = false;
  }

  return {
    send(message) {
      if (!connection?.current() || waiting.length >= waitingMax) return;
      waiting.push(message);
      void flush();
    },
    listen(hear) {
      listeners.add(hear);
      connection ??= keepConnected(config, listenOn);
    },
    async close() {
      listeners.clear();
      await connection?.close();
    },
  };
}
