import { SESSION_ENDED, TOO_MANY_CONNECTIONS } from '../errors/errors.ts';
import { createConnection, type Connection, type OpenConnection, type Transport } from './connection.ts';
import { createCounts } from './counts.ts';
import { nameOf, type Credential } from './credential.ts';

/*
 * The long-lived connections of this process: WebSockets and server-sent events. Invariants:
 * - A connection counts against the limit of its network, or of its session or API key once it is authenticated.
 * - It is closed when its session ends, when it stays unauthenticated, and when the service stops.
 */

/** The most connections of one session or API key. */
const connectionsMax = 1_000;
/** The most unauthenticated connections of one network: after a restart all clients connect at once. */
const unauthenticatedMax = 2_000;
const retryAfterSeconds = 5;

export type Connections = {
  /** Throws TOO_MANY_CONNECTIONS if the caller's network holds too many. */
  open(transport: Transport): Connection;
  /** The credentials of all authenticated connections. */
  credentials(): Credential[];
  /** Ends the authenticated connections that meet the condition. */
  endWhere(condition: (credential: Credential) => boolean): void;
  /** Closes all connections, and each new one: the service stops. */
  closeAll(): void;
  count(): number;
  countBufferedBytes(): number;
  countSubscriptions(): number;
};

export function createConnections(): Connections {
  const all = new Set<OpenConnection>();
  const counts = createCounts();
  let isClosing = false;

  function count(holder: string, max: number): () => void {
    if (counts.of(holder) >= max) throw TOO_MANY_CONNECTIONS({ retryAfterSeconds });
    return counts.add(holder);
  }

  return {
    open(transport) {
      if (isClosing) transport.close('restart');
      let holder = `network ${transport.network}`;
      let release = count(holder, unauthenticatedMax);
      const open: OpenConnection = { transport, credential: undefined, subscriptions: new Set() };
      all.add(open);
      return createConnection(open, {
        authenticate(credential) {
          // A connection may close while its caller is looked up, and nothing would release it after that.
          if (holder === nameOf(credential) || !all.has(open)) return;
          const releaseFormer = release;
          release = count(nameOf(credential), connectionsMax);
          holder = nameOf(credential);
          releaseFormer();
        },
        closed() {
          all.delete(open);
          release();
        },
      });
    },

    credentials: () => [...all].flatMap(({ credential }) => credential ?? []),

    endWhere(condition) {
      for (const { credential, subscriptions, transport } of all) {
        if (!credential || !condition(credential)) continue;
        for (const subscription of subscriptions) subscription.end(SESSION_ENDED());
        transport.close('session ended');
      }
    },

    closeAll() {
      isClosing = true;
      for (const { transport } of all) transport.close('restart');
    },

    count: () => all.size,
    countBufferedBytes: () => [...all].reduce((sum, { transport }) => sum + transport.bufferedBytes(), 0),
    countSubscriptions: () => [...all].reduce((sum, { subscriptions }) => sum + subscriptions.size, 0),
  };
}
