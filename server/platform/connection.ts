import pLimit from 'p-limit';
import type { ApiError } from '../errors/api-error.ts';
import { TOO_MANY_SUBSCRIPTIONS } from '../errors/errors.ts';
import type { Credential } from './credential.ts';

/** Why the service closes a connection. */
export type CloseReason = 'session ended' | 'refused' | 'refused too often' | 'restart';

/** What carries a connection: a WebSocket, or the response of server-sent events. */
export type Transport = {
  /** The caller's address: the rate limit key until the caller is authenticated. */
  network: string;
  /** Undefined when there is room to send, else a promise to ask again. Cuts a connection that takes nothing. */
  ready(): Promise<void> | undefined;
  /** Counts an event of about this length, which is about to be sent, against the room. */
  reserve(length: number): void;
  /** Stops reading calls; they wait in the network. */
  pause(): void;
  resume(): void;
  /** The bytes that were sent and are still in this process. */
  bufferedBytes(): number;
  close(reason: CloseReason): void;
};

/** A subscription that runs on a connection. */
export type RunningSubscription = { end(error: ApiError): void };

export type Connection = Pick<Transport, 'ready' | 'reserve'> & {
  /** Counts the connection against the limit of this session or key from now on, and keeps it open. */
  authenticate(credential: Credential): void;
  /** Begins a subscription; returns how to remove it. */
  addSubscription(subscription: RunningSubscription): () => void;
  /** Runs a call when earlier answers have been taken and fewer than the limit run. */
  run<Answer>(call: () => Promise<Answer>): Promise<Answer>;
  /** Counts a refused call: a connection that stays unauthenticated is closed after some. */
  noteError(error: ApiError): void;
  /** Forgets a connection that is closed. */
  closed(): void;
};

/** Subscriptions of one connection. */
export const subscriptionsMax = 100;
/** Calls that run at once on one connection. */
const callsMax = 8;
/** Refused calls of a connection without a caller: as many as a client sends in one message. */
const errorsMax = 200;
/** A connection without a caller is closed after this time. */
const authenticateWithinMs = 30_000;
/** A subscription may end at any moment; a client that asks much sooner would only be refused again. */
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

/** Each answer waits until the one before was taken, as if the caller had sent one call after the other. */
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
