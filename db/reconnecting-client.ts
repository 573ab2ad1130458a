import pg from 'pg';
import { closeAtUnreadable } from './guarded-socket.ts';

/** A separate connection outside the pool, replaced whenever it breaks. */
export type ReconnectingClient = {
  /** Undefined while there is none; callers do not wait for it. */
  current(): pg.Client | undefined;
  /** Drops the current connection, which no longer answers. */
  drop(): void;
  close(): Promise<void>;
};

const reconnectMs = { first: 100, longest: 5_000 };

/** Connects at once, and again with growing delays. A connection is used after `prepare` has finished. */
export function openReconnecting(
  config: pg.ClientConfig,
  prepare: (client: pg.Client) => Promise<void> = async () => {},
): ReconnectingClient {
  let client: pg.Client | undefined;
  let isClosed = false;
  let waitMs = reconnectMs.first;
  let timer: NodeJS.Timeout | undefined;

  async function connect(): Promise<void> {
    const next = new pg.Client(config);
    let isReplaced = false;
    // Its end may come long after the error that was its last one.
    const replace = () => {
      if (client === next) client = undefined;
      if (isClosed || isReplaced) return;
      isReplaced = true;
      timer = setTimeout(() => void connect(), waitMs).unref();
      waitMs = Math.min(waitMs * 2, reconnectMs.longest);
    };
    next.on('error', () => {
      void next.end().catch(() => {});
      replace();
    });
    next.on('end', replace);
    closeAtUnreadable(next);
    try {
      await next.connect();
      await prepare(next);
      if (isClosed) {
        await next.end();
        return;
      }
      client = next;
      waitMs = reconnectMs.first;
    } catch {
      void next.end().catch(() => {});
      replace();
    }
  }

  void connect();
  return {
    current: () => client,
    drop: () => client?.connection.stream.destroy(new Error('the connection no longer answers')),
    async close() {
      isClosed = true;
      clearTimeout(timer);
      await client?.end().catch(() => {});
    },
  };
}
