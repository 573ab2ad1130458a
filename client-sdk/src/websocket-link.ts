import { toApiError, parse } from './exchange.ts';
import { ApiError } from './api-error.ts';
import { createQueue, type Queue } from './queue.ts';
import { onNetwork } from './waiting.ts';
import { connectionLost, type Incoming } from './transport.ts';

/** The time limit for connecting, and for the first message of a subscription. */
export const patienceMs = 10_000;
/** The service sends something every 25 seconds; after this time of silence the connection is lost. */
const silenceMs = 45_000;
/** A connection without streams stays open for this long, for the next one. */
const lingerMs = 250;

/** The errors of the service's close codes. After all other codes the streams reconnect. */
const closings: Record<number, ConstructorParameters<typeof ApiError>> = {
  4401: ['SESSION_ENDED', 'This session has ended: sign in again.', { status: 401, operation: 'events' }],
  4429: ['TOO_MANY_CONNECTIONS', 'Too many connections are open: close some.', { status: 429, operation: 'events' }],
};

/** A message of tRPC. */
type Message = {
  id?: number | null;
  method?: string;
  error?: unknown;
  result?: { type: string; id?: string; data?: { data: unknown } };
};

type Subscriber = { operation: string; queue: Queue<Incoming> };

/** An open connection. */
export type Link = {
  subscribe(operation: string, input: unknown): { queue: Queue<Incoming>; stop(): void };
  close(): void;
};

/** Opens a connection and sends the credentials. `onMessage` is called for each message, `onClose` at the end. */
export async function openLink(
  url: string,
  credentials: Record<string, string>,
  { onMessage, onClose }: { onMessage(): void; onClose(): void },
): Promise<Link> {
  const socket = new WebSocket(`${url}?connectionParams=1`);
  const subscribers = new Map<number, Subscriber>();
  let lastId = 0;
  let linger: ReturnType<typeof setTimeout> | undefined;
  let silence = setTimeout(() => end(connectionLost()), patienceMs);
  // A browser keeps dead sockets for a long time.
  const off = onNetwork('offline', () => end(connectionLost()));

  function end(failure: ApiError): void {
    clearTimeout(silence);
    clearTimeout(linger);
    off();
    onClose();
    for (const { queue } of subscribers.values()) queue.end(failure);
    subscribers.clear();
    socket.close();
  }

  socket.addEventListener('message', ({ data }) => {
    onMessage();
    clearTimeout(silence);
    silence = setTimeout(() => end(connectionLost()), silenceMs);
    if (data === 'PING') return socket.send('PONG');
    const message = (parse(String(data)) ?? {}) as Message;
    // The service restarts: the streams reconnect and continue at their cursors.
    return message.method === 'reconnect'
      ? end(connectionLost())
      : dispatch(message, subscribers.get(Number(message.id)));
  });
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener('open', () => resolve());
    socket.addEventListener('close', ({ code }) => {
      const failure = closings[code] ? new ApiError(...closings[code]) : connectionLost();
      reject(failure);
      end(failure);
    });
  });
  socket.send(JSON.stringify({ method: 'connectionParams', data: credentials }));

  return {
    subscribe(operation, input) {
      clearTimeout(linger);
      const id = (lastId += 1);
      const queue = createQueue<Incoming>(connectionLost);
      const send = (method: string, params?: object): void => {
        if (socket.readyState === socket.OPEN) socket.send(JSON.stringify({ id, method, params }));
      };
      subscribers.set(id, { operation, queue });
      send('subscription', { path: operation, input });
      return {
        queue,
        stop() {
          if (!subscribers.delete(id)) return;
          send('subscription.stop');
          if (subscribers.size === 0) linger = setTimeout(() => end(connectionLost()), lingerMs);
        },
      };
    },
    close: () => end(connectionLost()),
  };
}

/** Passes a message to its subscription, if that still runs. */
function dispatch({ error, result }: Message, subscriber: Subscriber | undefined): void {
  if (!subscriber) return;
  const { queue, operation } = subscriber;
  if (error !== undefined) queue.end(toApiError(operation, error) ?? connectionLost());
  else if (result?.type === 'started') queue.push('started');
  else if (result?.type === 'stopped') queue.end();
  else queue.push({ data: result?.data?.data });
}
