import type { Credential } from './context.ts';
import type { FaultError } from './fault.ts';
import { SESSION_ENDED, TOO_MANY_CONNECTIONS, TOO_MANY_SUBSCRIPTIONS } from './faults.ts';
import { createTurnstile } from './turnstile.ts';

/*
 * Connections that last: WebSockets, and answers that are streams of events. Here is who holds them and what runs on
 * them, so that they end with the session that opened them and with the service, and that nobody holds too many.
 */

/** Why the service closes a connection: its session is over, it is not wanted, or the service ends. */
export type Closing = 'session ended' | 'refused' | 'refused too often' | 'restart';

/** What the door does for a connection. */
export type Wire = {
  /** The caller's address, which counts until they have said who they are. */
  network: string;
  /** Waits until what was sent has been taken; gives up, and cuts the connection, where nobody takes it. */
  ready(): Promise<void> | undefined;
  /** An event of about this length is sent next: what is decided before that counts it. */
  expect(length: number): void;
  /** Whether more calls are heard, or wait in the network until those before are done. */
  hear(isHeard: boolean): void;
  /** What was sent and waits in this process to be taken. */
  waitingBytes(): number;
  close(why: Closing): void;
};

/** Something that runs on a connection until it is told to end. */
export type Running = { end(fault: FaultError): void };

export type Connection = {
  /** The caller has shown who they are. */
  claim(credential: Credential): void;
  /** Begins a subscription on it; answers how to end it. */
  admit(subscription: Running): () => void;
  ready: Wire['ready'];
  expect: Wire['expect'];
  /** Runs a call, a few of one connection at once, when the answers before have been taken. */
  run<Answer>(call: () => Promise<Answer>): Promise<Answer>;
  /** A call was refused. Whoever has shown nothing yet is not listened to for long. */
  refuse(fault: FaultError): void;
  /** It is gone, by whosever hand. */
  gone(): void;
};

/** On one connection. */
export const subscriptionsMax = 100;
/** Calls that run at once on one connection. */
const callsMax = 8;
/** For one session or key. */
const connectionsMax = 1_000;
/** For one network, of those on which nobody has said yet who they are: after a restart everybody comes at once. */
const strangersMax = 2_000;
/** Calls that are refused to somebody who never shows who they are: as many as a client says in one message. */
const refusalsMax = 200;
/** How long somebody may stay who never shows who they are. */
const strangerMs = 30_000;

export type Connections = ReturnType<typeof createConnections>;

export function createConnections() {
  type Held = { wire: Wire; credential: Credential | undefined; holder: string; running: Set<Running> };
  const open = new Set<Held>();
  const countsByHolder = new Map<string, number>();
  let isClosing = false;

  function hold(held: Held, holder: string, max: number): void {
    const count = (countsByHolder.get(holder) ?? 0) + 1;
    if (count > max) throw TOO_MANY_CONNECTIONS();
    countsByHolder.set(holder, count);
    letGo(held.holder);
    held.holder = holder;
  }

  function letGo(holder: string): void {
    const count = (countsByHolder.get(holder) ?? 0) - 1;
    if (count > 0) countsByHolder.set(holder, count);
    else countsByHolder.delete(holder);
  }

  function end(held: Held, fault: FaultError): void {
    for (const one of held.running) one.end(fault);
    held.wire.close('session ended');
  }

  return {
    /** Refuses where the caller's network holds too many already. */
    open(wire: Wire): Connection {
      const held: Held = { wire, credential: undefined, holder: '', running: new Set() };
      if (isClosing) wire.close('restart');
      hold(held, `network ${wire.network}`, strangersMax);
      open.add(held);
      let refusals = 0;
      const tooLong = setTimeout(() => wire.close('refused'), strangerMs).unref();
      return {
        claim(credential) {
          clearTimeout(tooLong);
          const holder = nameOf(credential);
          if (held.holder !== holder) hold(held, holder, connectionsMax);
          held.credential = credential;
        },
        admit(subscription) {
          if (held.running.size >= subscriptionsMax) throw TOO_MANY_SUBSCRIPTIONS();
          held.running.add(subscription);
          return () => void held.running.delete(subscription);
        },
        ready: wire.ready,
        expect: wire.expect,
        run: takeTurns(wire),
        refuse({ fault }) {
          if (held.credential) return;
          refusals += 1;
          // Their network has had its fill, or they have.
          if (fault.status === 429 || refusals === refusalsMax) wire.close('refused too often');
        },
        gone() {
          clearTimeout(tooLong);
          if (open.delete(held)) letGo(held.holder);
        },
      };
    },

    /** Whose connections are open. */
    credentials: (): Credential[] => [...open].flatMap(({ credential }) => credential ?? []),

    /** Ends the connections of those who may be here no longer. */
    endWhere(isOver: (credential: Credential) => boolean): void {
      for (const held of open) if (held.credential && isOver(held.credential)) end(held, SESSION_ENDED());
    },

    /** For the shutdown: callers are told to come again. */
    closeAll(): void {
      isClosing = true;
      for (const { wire } of open) wire.close('restart');
    },

    count: (): number => open.size,
    countWaitingBytes: (): number => [...open].reduce((sum, { wire }) => sum + wire.waitingBytes(), 0),
    countSubscriptions: (): number => [...open].reduce((sum, { running }) => sum + running.size, 0),
  };
}

/** Each call is as dear as its answer is long, so they wait like the answers of one who sends them one after another. */
function takeTurns(wire: Wire): Connection['run'] {
  const inTurn = createTurnstile(callsMax, Infinity);
  let begun = 0;
  return async (call) => {
    begun += 1;
    if (begun > callsMax) wire.hear(false);
    try {
      return await inTurn(async () => {
        for (let taken = wire.ready(); taken; taken = wire.ready()) await taken;
        return await call();
      });
    } finally {
      begun -= 1;
      if (begun <= callsMax) wire.hear(true);
    }
  };
}

/** Who is behind a credential, as limits count them. */
export const nameOf = (credential: Credential): string =>
  credential.kind === 'apiKey' ? `key ${credential.apiKeyId}` : `session ${credential.sessionId}`;
