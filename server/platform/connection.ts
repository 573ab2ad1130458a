import pLimit from 'p-limit';
import type { ApiError } from '../errors/api-error.ts';
import { TOO_MANY_SUBSCRIPTIONS } from '../errors/errors.ts';
import type { Credential } from './credential.ts';

/** Why the service closes a connection. */
export type CloseReason = 'session ended' | 'refused' | 'refused too often' | 'restart';

/** The transport of a connection: a WebSocket, or the response of server-sent events. */
export type Transport = {
  /** The caller's address: the rate limit key until the caller is authenticated. */
  network: string;
  /**
   * Undefined if there is room to send, else a promise after which to ask again. Cuts a connection that reads nothing.
   */
  ready(): Promise<void> | undefined;
  /** Reserves room for an event of about this length, which is about to be sent. */
  reserve(length: number): void;
  /** Stops reading calls; they wait in the network. */
  pause(): void;
  resume(): void;
  /** The sent bytes that are still in this process. */
  bufferedBytes(): number;
  close(reason: CloseReason): void;
};

/** A subscription that runs on a connection. */
export type RunningSubscription = { end(error: ApiError): void };

export type Connection = Pick<Transport, 'ready' | 'reserve'> & {
  /** From now on counts the connection against the limit of this session or key, and keeps it open. */
  authenticate(credential: Credential): void;
  /** Begins a subscription; returns how to remove it. */
  addSubscription(subscription: RunningSubscription): () => void;
  /** Runs a call after earlier answers were read, while fewer calls than the limit run. */
  run<Answer>(call: () => Promise<Answer>): Promise<Answer>;
  /** Counts a failed call: an unauthenticated connection is closed after some. */
  noteError(error: ApiError): void;
  /** Forgets a connection that is closed. */
  closed(): void;
};

/** The most subscriptions of one connection. */
export const subscriptionsMax = 100;
/** The most calls that run at once on one connection. */
const callsMax = 8;
/** The most failed calls of an unauthenticated connection: as many as a client sends in one message. */
const errorsMax = 200;
/** An unauthenticated connection is closed after this time. */
const authenticateWithinMs = 30_000;
/** A subscription may end at any moment; a client that retries much sooner would be refused again. */
const retryAfterSeconds = 5;

export type OpenConnection = {
  readonly transport: Transport;
  credential: Credential | undefined;
  readonly subscriptions: Set<RunningSubscription>;
};

/** `authenticate` and `closed` count the connection by its holder: see connections.ts. */
export function createConnection(
  open: OpenConnection,
  { authenticate, closed }: Pick<Connection, 'authenticate' | 'closed'>,
): Connection {
  const { transport, subscriptions } = open;
  let errors = 0;
  const timeout = setTimeout(() => transport.close('refused'), authenticateWithinMs).unref();
  return {
    authenticate(credential) {
      clearTimeout(timeout);
      authenticate(credential);
      open.credential = credential;
    },
    addSubscription(subscription) {
      if (subscriptions.size >= subscriptionsMax) throw TOO_MANY_SUBSCRIPTIONS({ retryAfterSeconds });
      subscriptions.add(subscription);
      return () => void subscriptions.delete(subscription);
    },
    ready: transport.ready,
    reserve: transport.reserve,
    run: limitCalls(transport),
    noteError({ definition }) {
      if (open.credential) return;
      errors += 1;
      if (definition.status === 429 || errors === errorsMax) transport.close('refused too often');
    },
    closed() {
      clearTimeout(timeout);
      closed();
    },
  };
}

/** Each answer waits until the previous one was read, as if the caller had sent one call after the other. */
function limitCalls(transport: Transport): Connection['run'] {
  const limit = pLimit(callsMax);
  let calls = 0;
  return async (call) => {
    calls += 1;
    if (calls > callsMax) transport.pause();
    try {
      return await limit(async () => {
        for (let ready = transport.ready(); ready; ready = transport.ready()) await ready;
        return await call();
      });
    } finally {
      calls -= 1;
      if (calls <= callsMax) transport.resume();
    }
  };
}
