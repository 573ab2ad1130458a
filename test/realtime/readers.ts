import { once } from 'node:events';
import { request } from 'node:http';
import { createTRPCClient, createWSClient, httpSubscriptionLink, wsLink, type TRPCClient } from '@trpc/client';
import { EventSource } from 'eventsource';
import { WebSocket } from 'ws';
import type { AppRouter } from '../../server/router.ts';
import type { TokenPair } from '../support/actor.ts';
import { waitUntil } from '../support/waiting.ts';

/* Those who read what is said on some tasks, until they stop: their connection stays open and nobody takes from it. */

export type Reader = {
  /** Of each task, the numbers of the events that came. */
  heard: Map<number, number[]>;
  /** How long after it happened each event came. */
  latenessMs: number[];
  /** How often it has connected. */
  connects(): number;
  stall(): void;
  /** Reads again; if it was cut off in the meantime, its client reconnects by itself. */
  readOn(): void;
  close(): void;
};

type Place = { url: string; pair: TokenPair; taskIds: number[] };

const headersOf = ({ access_token, refresh_token }: TokenPair) => ({
  authorization: `Bearer ${access_token}`,
  'x-refresh-token': refresh_token,
});
const paramsOf = ({ access_token: accessToken, refresh_token: refreshToken }: TokenPair) => ({
  accessToken,
  refreshToken,
});
const socketUrl = (url: string): string => `${url.replace(/^http/, 'ws')}/trpc`;

/** tRPC's own client over a WebSocket that can be made to read no more. */
export async function readOverWebSocket(place: Place): Promise<Reader> {
  const sockets: WebSocket[] = [];
  class Kept extends WebSocket {
    constructor(url: string) {
      super(url);
      sockets.push(this);
    }
  }
  const wsClient = createWSClient({
    url: socketUrl(place.url),
    connectionParams: paramsOf(place.pair),
    WebSocket: Kept as unknown as typeof globalThis.WebSocket,
    retryDelayMs: () => 50,
  });
  const client = createTRPCClient<AppRouter>({ links: [wsLink({ client: wsClient })] });
  return {
    ...(await listen(client, place.taskIds)),
    connects: () => sockets.length,
    stall: () => sockets.forEach((socket) => socket.pause()),
    readOn: () => sockets.forEach((socket) => socket.resume()),
    close: () => void wsClient.close(),
  };
}

/** tRPC's own client over server-sent events, each stream on a connection of its own. */
export async function readOverEvents({ url, pair, taskIds }: Place): Promise<Reader> {
  let connects = 0;
  let open = Promise.resolve();
  let readOn = (): void => {};
  const client = createTRPCClient<AppRouter>({
    links: [
      httpSubscriptionLink({
        url: `${url}/trpc`,
        EventSource,
        eventSourceOptions: {
          async fetch(input, init) {
            connects += 1;
            const answer = await fetch(input, { ...init, headers: { ...init.headers, ...headersOf(pair) } });
            const gate = new TransformStream<Uint8Array, Uint8Array>({
              async transform(chunk, controller) {
                await open;
                controller.enqueue(chunk);
              },
            });
            const { status, headers, redirected } = answer;
            return { url: answer.url, status, headers, redirected, body: answer.body?.pipeThrough(gate) ?? null };
          },
        },
      }),
    ],
  });
  const listening = await listen(client, taskIds);
  return {
    ...listening,
    connects: () => connects,
    stall: () => void (open = new Promise((resolve) => (readOn = resolve))),
    readOn: () => readOn(),
  };
}

async function listen(client: TRPCClient<AppRouter>, taskIds: number[]) {
  const heard = new Map<number, number[]>(taskIds.map((taskId) => [taskId, []]));
  const latenessMs: number[] = [];
  let started = 0;
  const subscriptions = taskIds.map((taskId) =>
    client.comments.onTask.subscribe(
      { taskId, lastEventId: '0' },
      {
        onStarted: () => void (started += 1),
        onData({ id, data }) {
          heard.get(taskId)!.push(Number(id));
          latenessMs.push(Date.now() - Date.parse(data.at));
        },
        onError: (error) => {
          throw error;
        },
      },
    ),
  );
  await waitUntil(() => started >= taskIds.length);
  return { heard, latenessMs, close: () => subscriptions.forEach((one) => one.unsubscribe()) };
}

/** Subscribes over a bare WebSocket and never reads again; answers how to let go of it. */
export async function stalledSocket({ url, pair, taskIds }: Place, lastEventId?: string): Promise<() => void> {
  const socket = new WebSocket(`${socketUrl(url)}?connectionParams=1`);
  // It is cut off in the end.
  socket.on('error', () => {});
  await once(socket, 'open');
  socket.send(JSON.stringify({ method: 'connectionParams', data: paramsOf(pair) }));
  const calls = taskIds.map((taskId, id) => {
    return { id, method: 'subscription', params: { path: 'comments.onTask', input: { taskId, lastEventId } } };
  });
  let started = 0;
  socket.on('message', (data: Buffer) => void (started += String(data).includes('"started"') ? 1 : 0));
  socket.send(JSON.stringify(calls));
  await waitUntil(() => started === calls.length);
  socket.pause();
  return () => socket.terminate();
}

/** Asks for events and takes the head of the answer alone; answers how to let go of it. */
export async function stalledEvents({ url, pair, taskIds }: Place, lastEventId?: string): Promise<() => void> {
  const input = encodeURIComponent(JSON.stringify({ taskId: taskIds[0], lastEventId }));
  const call = request(`${url}/trpc/comments.onTask?input=${input}`, {
    headers: { ...headersOf(pair), accept: 'text/event-stream' },
  });
  call.on('error', () => {});
  call.end();
  const [answer] = (await once(call, 'response')) as [
    { statusCode: number; on(name: 'error', hear: () => void): void },
  ];
  answer.on('error', () => {});
  if (answer.statusCode !== 200) throw new Error(`no events: ${answer.statusCode}`);
  return () => call.destroy();
}
