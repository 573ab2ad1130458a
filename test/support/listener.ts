import { createTRPCClient, createWSClient, httpSubscriptionLink, wsLink, type TRPCClient } from '@trpc/client';
import { EventSource } from 'eventsource';
import type { AppRouter } from '../../server/router.ts';
import { headersOf, type TokenPair } from './actor.ts';
import { waitUntil } from './waiting.ts';

export type Stream =
  | 'comments.onTask'
  | 'notifications.onMine'
  | 'tasks.onProject'
  | 'timers.onMine'
  | 'projects.onCompany';
type Input = { taskId?: number; projectId?: number; lastEventId?: string };

/** An event as it came, whatever its type has beside. */
export type Heard = {
  id: number;
  type: string;
  at: string;
  // oxlint-disable-next-line typescript/no-explicit-any
  [field: string]: any;
};

/** Somebody who listens to one stream through tRPC's own client, as delivered. */
export type Listener = {
  events: Heard[];
  /** The code of the error that ended it. */
  errorCode(): string | undefined;
  /** Waits until as many events have come. */
  hears(count: number): Promise<Heard[]>;
  /** Waits until it is refused; answers the code. */
  ends(): Promise<string>;
  stop(): void;
};

export type Way = {
  client: TRPCClient<AppRouter>;
  listen(stream: Stream, input?: Input): Promise<Listener>;
  close(): Promise<void>;
};

export type Proof = TokenPair | { apiKey: string } | null;

/** tRPC's WebSocket client; a URL that is a function is asked again at each connection. */
export function overWebSocket(url: string | (() => string), proof: Proof): Way {
  const wsClient = createWSClient({
    url: () => `${(typeof url === 'string' ? url : url()).replace(/^http/, 'ws')}/trpc`,
    connectionParams: paramsOf(proof),
    retryDelayMs: () => 50,
  });
  const client = createTRPCClient<AppRouter>({ links: [wsLink({ client: wsClient })] });
  return { client, listen: (stream, input) => listen(client, stream, input), close: () => wsClient.close() };
}

function paramsOf(proof: Proof): Record<string, string> | null {
  if (proof === null || 'apiKey' in proof) return proof;
  return { accessToken: proof.access_token, refreshToken: proof.refresh_token };
}

/** Server-sent events, with an EventSource that can send headers. */
export function overEvents(url: string, proof: Proof): Way {
  const headers: Record<string, string> = {};
  if (proof !== null && 'apiKey' in proof) headers['authorization'] = `Bearer ${proof.apiKey}`;
  else if (proof !== null) Object.assign(headers, headersOf(proof));
  const client = createTRPCClient<AppRouter>({
    links: [
      httpSubscriptionLink({
        url: `${url}/trpc`,
        EventSource,
        eventSourceOptions: {
          fetch: (input, init) => fetch(input, { ...init, headers: { ...init.headers, ...headers } }),
        },
      }),
    ],
  });
  const listeners: Listener[] = [];
  return {
    client,
    async listen(stream, input) {
      const listener = await listen(client, stream, input);
      listeners.push(listener);
      return listener;
    },
    close: async () => listeners.forEach((one) => one.stop()),
  };
}

/** Begins to listen and waits until it has begun, or is refused. */
async function listen(
  client: TRPCClient<AppRouter>,
  stream: Stream,
  { taskId, projectId, lastEventId }: Input = {},
): Promise<Listener> {
  const events: Heard[] = [];
  let errorCode: string | undefined;
  let isStarted = false;
  const handlers = {
    onStarted: () => void (isStarted = true),
    onData: ({ data }: { data: unknown }) => void events.push(data as Heard),
    onError: (error: { data?: unknown; message: string }) =>
      void (errorCode = (error.data as { code?: string } | undefined)?.code ?? error.message),
  };
  const from = lastEventId === undefined ? {} : { lastEventId };
  const position = lastEventId === undefined ? undefined : from;
  const subscriptions = {
    'comments.onTask': () => client.comments.onTask.subscribe({ taskId: taskId!, ...from }, handlers),
    'notifications.onMine': () => client.notifications.onMine.subscribe(position, handlers),
    'tasks.onProject': () => client.tasks.onProject.subscribe({ projectId: projectId!, ...from }, handlers),
    'timers.onMine': () => client.timers.onMine.subscribe(position, handlers),
    'projects.onCompany': () => client.projects.onCompany.subscribe(position, handlers),
  };
  const subscription = subscriptions[stream]();
  await waitUntil(() => isStarted || errorCode !== undefined);
  return {
    events,
    errorCode: () => errorCode,
    async hears(count) {
      await waitUntil(() => events.length >= count || errorCode !== undefined);
      return events;
    },
    async ends() {
      await waitUntil(() => errorCode !== undefined);
      return errorCode!;
    },
    stop: () => subscription.unsubscribe(),
  };
}
