import type { Caller } from './caller.ts';
import { faultOf, parse } from './exchange.ts';
import { Fault } from './fault.ts';
import { createQueue, type Queue } from './queue.ts';
import { onNetwork, unlessAborted } from './waiting.ts';
import type { Incoming, Way } from './way.ts';

/** How long connecting, and the first word on a connection, may take. */
const patienceMs = 10_000;
/** The service says something every 25 seconds; who hears nothing for this long is cut off without knowing. */
const silenceMs = 45_000;
/** A connection without streams stays open for this long, for the next one. */
const lingerMs = 250;

/** What the close codes of the service mean; all others are cuts that pass. */
const closings: Record<number, ConstructorParameters<typeof Fault>> = {
  4401: ['SESSION_ENDED', 'This session has ended: sign in again.', { status: 401, operation: 'events' }],
  4429: ['TOO_MANY_CONNECTIONS', 'Too many connections are open: close some.', { status: 429, operation: 'events' }],
};

type Subscriber = { operation: string; queue: Queue<Incoming> };

/** A connection that is open, and who listens on it. */
type Link = {
  subscribe(operation: string, input: unknown): { queue: Queue<Incoming>; stop(): void };
  close(): void;
};

/** Events over one WebSocket for all streams. Its first message says who is calling: tokens never stand in a URL. */
export function createWebSocketWay(url: string, caller: Caller): Way & { hasWorked(): boolean } {
  let link: Promise<Link> | undefined;
  let worked = false;

  function connect(): Promise<Link> {
    const opening = open(() => {
      if (link === opening) link = undefined;
    });
    return opening;
  }

  async function open(onGone: () => void): Promise<Link> {
    // The connection is everybody's: one who leaves does not keep the others from it.
    const { headers } = await caller.proofOf(new AbortController().signal).catch((error: unknown) => {
      onGone();
      throw error;
    });
    const socket = new WebSocket(`${url}?connectionParams=1`);
    const subscribers = new Map<number, Subscriber>();
    let lastId = 0;
    let linger: ReturnType<typeof setTimeout> | undefined;
    let silence = setTimeout(() => giveUp(cut()), patienceMs);
    // A browser keeps sockets that lead nowhere for a long time.
    const off = onNetwork('offline', () => giveUp(cut()));

    function giveUp(failure: Fault): void {
      clearTimeout(silence);
      clearTimeout(linger);
      off();
      onGone();
      for (const { queue } of subscribers.values()) queue.end(failure);
      subscribers.clear();
      socket.close();
    }

    function take(message: {
      id?: number | null;
      method?: string;
      error?: unknown;
      result?: { type: string; id?: string; data?: { data: unknown } };
    }): void {
      const { id, method, error, result } = message;
      // The service restarts: whoever comes again goes on where they were.
      if (method === 'reconnect') return giveUp(cut());
      const subscriber = subscribers.get(Number(id));
      if (!subscriber) return undefined;
      const { queue, operation } = subscriber;
      if (error !== undefined) return queue.end(faultOf(operation, error) ?? cut());
      if (result?.type === 'started') return queue.push('started');
      if (result?.type === 'stopped') return queue.end();
      return queue.push({ data: result?.data?.data });
    }

    socket.addEventListener('message', ({ data }) => {
      worked = true;
      clearTimeout(silence);
      silence = setTimeout(() => giveUp(cut()), silenceMs);
      if (data === 'PING') socket.send('PONG');
      else take(parse(String(data)) ?? {});
    });
    await new Promise<void>((resolve, reject) => {
      socket.addEventListener('open', () => resolve());
      socket.addEventListener('close', ({ code }) => {
        const failure = closings[code] ? new Fault(...closings[code]) : cut();
        reject(failure);
        giveUp(failure);
      });
    });
    socket.send(JSON.stringify({ method: 'connectionParams', data: headers }));

    return {
      subscribe(operation, input) {
        clearTimeout(linger);
        const id = (lastId += 1);
        const queue = createQueue<Incoming>(cut);
        subscribers.set(id, { operation, queue });
        const say = (method: string, params?: object) => {
          if (socket.readyState === socket.OPEN) socket.send(JSON.stringify({ id, method, params }));
        };
        say('subscription', { path: operation, input });
        return {
          queue,
          stop() {
            if (subscribers.delete(id)) say('subscription.stop');
            if (subscribers.size === 0) linger = setTimeout(() => giveUp(cut()), lingerMs);
          },
        };
      },
      close: () => giveUp(cut()),
    };
  }

  return {
    hasWorked: () => worked,
    drop() {
      void link?.then((open) => open.close()).catch(() => {});
      link = undefined;
    },
    async *listen({ operation, input, signal }) {
      link ??= connect();
      const { queue, stop } = (await unlessAborted(link, signal)).subscribe(operation, input);
      const leave = (): void => queue.end();
      const first = setTimeout(() => queue.end(cut()), patienceMs);
      signal.addEventListener('abort', leave, { once: true });
      try {
        for await (const incoming of queue) {
          clearTimeout(first);
          yield incoming;
        }
      } finally {
        clearTimeout(first);
        signal.removeEventListener('abort', leave);
        stop();
      }
    },
  };
}

function cut(): Fault {
  return new Fault('NETWORK_ERROR', 'The connection for events was cut.', { status: 0, operation: 'events' });
}
