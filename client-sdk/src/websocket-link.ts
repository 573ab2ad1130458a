import { faultOf, parse } from './exchange.ts';
import { Fault } from './fault.ts';
import { createQueue, type Queue } from './queue.ts';
import { onNetwork } from './waiting.ts';
import type { Incoming } from './way.ts';

/** How long connecting, and the first word on a subscription, may take. */
export const patienceMs = 10_000;
/** The service says something every 25 seconds; who hears nothing for this long is cut off without knowing. */
const silenceMs = 45_000;
/** A connection without streams stays open for this long, for the next one. */
const lingerMs = 250;

/** What the close codes of the service mean; all others are cuts that pass. */
const closings: Record<number, ConstructorParameters<typeof Fault>> = {
  4401: ['SESSION_ENDED', 'This session has ended: sign in again.', { status: 401, operation: 'events' }],
  4429: ['TOO_MANY_CONNECTIONS', 'Too many connections are open: close some.', { status: 429, operation: 'events' }],
};

/** What the service says on a connection, as tRPC words it. */
type Message = {
  id?: number | null;
  method?: string;
  error?: unknown;
  result?: { type: string; id?: string; data?: { data: unknown } };
};

type Subscriber = { operation: string; queue: Queue<Incoming> };

/** A connection that is open. */
export type Link = {
  subscribe(operation: string, input: unknown): { queue: Queue<Incoming>; stop(): void };
  close(): void;
};

/** Opens a connection and says who is calling. `onWord` is called when the service says something, `onGone` at the end. */
export async function openLink(
  url: string,
  proof: Record<string, string>,
  { onWord, onGone }: { onWord(): void; onGone(): void },
): Promise<Link> {
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

  socket.addEventListener('message', ({ data }) => {
    onWord();
    clearTimeout(silence);
    silence = setTimeout(() => giveUp(cut()), silenceMs);
    if (data === 'PING') return socket.send('PONG');
    const message = (parse(String(data)) ?? {}) as Message;
    // The service restarts: whoever comes again goes on where they were.
    return message.method === 'reconnect' ? giveUp(cut()) : hand(message, subscribers.get(Number(message.id)));
  });
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener('open', () => resolve());
    socket.addEventListener('close', ({ code }) => {
      const failure = closings[code] ? new Fault(...closings[code]) : cut();
      reject(failure);
      giveUp(failure);
    });
  });
  socket.send(JSON.stringify({ method: 'connectionParams', data: proof }));

  return {
    subscribe(operation, input) {
      clearTimeout(linger);
      const id = (lastId += 1);
      const queue = createQueue<Incoming>(cut);
      const say = (method: string, params?: object): void => {
        if (socket.readyState === socket.OPEN) socket.send(JSON.stringify({ id, method, params }));
      };
      subscribers.set(id, { operation, queue });
      say('subscription', { path: operation, input });
      return {
        queue,
        stop() {
          if (!subscribers.delete(id)) return;
          say('subscription.stop');
          if (subscribers.size === 0) linger = setTimeout(() => giveUp(cut()), lingerMs);
        },
      };
    },
    close: () => giveUp(cut()),
  };
}

/** Hands what was said to whom it is about, where they still listen. */
function hand({ error, result }: Message, subscriber: Subscriber | undefined): void {
  if (!subscriber) return;
  const { queue, operation } = subscriber;
  if (error !== undefined) queue.end(faultOf(operation, error) ?? cut());
  else if (result?.type === 'started') queue.push('started');
  else if (result?.type === 'stopped') queue.end();
  else queue.push({ data: result?.data?.data });
}

export function cut(): Fault {
  return new Fault('NETWORK_ERROR', 'The connection for events was cut.', { status: 0, operation: 'events' });
}
