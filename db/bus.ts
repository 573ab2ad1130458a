import pg from 'pg';

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
const reconnectMs = { first: 100, longest: 5_000 };
/** What may stand behind a NOTIFY that is still running; more is dropped. */
const waitingMax = 1_000;

/**
 * LISTEN and NOTIFY, on a connection of its own that is opened with the first listener and replaced when it breaks.
 * It is never sent inside the transaction of a write: a NOTIFY makes all such transactions commit one after another.
 */
export function createServerBus(config: pg.ClientConfig): Bus {
  const listeners = new Set<(message: string | undefined) => void>();
  const stopping = new AbortController();
  let client: pg.Client | undefined;
  let waitMs = reconnectMs.first;
  let waiting: string[] = [];
  let isSending = false;
  let timer: NodeJS.Timeout | undefined;

  async function connect(): Promise<void> {
    const next = new pg.Client(config);
    const replace = () => {
      if (client === next) client = undefined;
      if (stopping.signal.aborted || timer !== undefined) return;
      timer = setTimeout(() => {
        timer = undefined;
        void connect();
      }, waitMs).unref();
      waitMs = Math.min(waitMs * 2, reconnectMs.longest);
    };
    next.on('error', () => {
      void next.end().catch(() => {});
      replace();
    });
    next.on('end', replace);
    next.on('notification', ({ payload = '' }) => listeners.forEach((hear) => hear(payload)));
    try {
      await next.connect();
      await next.query(`listen ${channel}`);
      if (stopping.signal.aborted) {
        await next.end();
        return;
      }
      client = next;
      waitMs = reconnectMs.first;
      listeners.forEach((hear) => hear(undefined));
    } catch {
      void next.end().catch(() => {});
      replace();
    }
  }

  /** One statement at a time, with all that has come together meanwhile. */
  async function flush(): Promise<void> {
    if (isSending) return;
    isSending = true;
    for (let current = client; current && waiting.length > 0; current = client) {
      const values = [channel, waiting];
      waiting = [];
      const text = 'select pg_notify($1, message) from unnest($2::text[]) as message';
      // A lost message costs time, not data.
      await current.query({ name: 'notify', text, values }).catch(() => {});
    }
    isSending = false;
  }

  return {
    send(message) {
      if (!client || waiting.length >= waitingMax) return;
      waiting.push(message);
      void flush();
    },
    listen(hear) {
      listeners.add(hear);
      if (listeners.size === 1) void connect();
    },
    async close() {
      stopping.abort();
      clearTimeout(timer);
      listeners.clear();
      await client?.end().catch(() => {});
    },
  };
}
