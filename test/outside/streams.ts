import { expect } from 'vitest';
import { WebSocket } from 'ws';
import { headersOf, type Answer, type Pair } from './caller.ts';
import { waitFor } from '../support/waiting.ts';

/** An event as it came: what tRPC sent as `id`, beside the event itself. */
export type Event = { id: number; type: string; at: string; trackedId: string } & Record<string, Answer['body']>;

export type Subscribed = {
  events: Event[];
  /** Waits until so many have come. */
  hears(count: number): Promise<Event[]>;
  /** Waits until it is refused, and answers the code. */
  errorCode(): Promise<string>;
  /** Waits until its connection is closed, and answers the code of that, where it has one. */
  closed(): Promise<number | undefined>;
  close(): void;
};

type Message = {
  result?: { type?: string; id?: string; data?: { id?: string; data?: object } };
  error?: { data: { code: string } };
};
export type Subscribe = (url: string, pair: Pair, path: string, input?: object) => Promise<Subscribed>;

/** Keeps what comes, however it comes. */
function keep(close: () => void) {
  const events: Event[] = [];
  const state: { isStarted: boolean; code?: string; isClosed: boolean; closeCode?: number } = {
    isStarted: false,
    isClosed: false,
  };
  const subscribed: Subscribed = {
    events,
    close,
    async hears(count) {
      await waitFor(() => expect(events.length).toBeGreaterThanOrEqual(count));
      return events;
    },
    async errorCode() {
      await waitFor(() => expect(state.code).toBeDefined());
      return state.code!;
    },
    async closed() {
      await waitFor(() => expect(state.isClosed).toBe(true));
      return state.closeCode;
    },
  };
  const begun = async (): Promise<Subscribed> => {
    await waitFor(() => expect(state.isStarted || state.code !== undefined || state.isClosed).toBe(true));
    return subscribed;
  };
  const take = (tracked: { id?: string; data?: object } | undefined): void => {
    if (tracked?.data) events.push({ ...(tracked.data as Event), trackedId: tracked.id ?? '' });
  };
  return { state, take, begun };
}

/** tRPC over WebSocket, message by message. */
export const overWebSocket: Subscribe = async (url, pair, path, input) => {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/trpc?connectionParams=1`);
  const { state, take, begun } = keep(() => socket.close());
  socket.on('open', () => {
    const data = { accessToken: pair.access_token, refreshToken: pair.refresh_token };
    socket.send(JSON.stringify({ method: 'connectionParams', data }));
    socket.send(JSON.stringify({ id: 1, method: 'subscription', params: { path, input } }));
  });
  socket.on('message', (bytes: Buffer) => {
    const text = bytes.toString();
    if (text === 'PING') return socket.send('PONG');
    const { result, error } = JSON.parse(text) as Message;
    if (error) state.code = error.data.code;
    if (result?.type === 'started') state.isStarted = true;
    if (result?.type === 'data') take(result.data);
  });
  socket.on('close', (code) => Object.assign(state, { isClosed: true, closeCode: code }));
  return begun();
};

/** The same over server-sent events, line by line. */
export const overEvents: Subscribe = async (url, pair, path, input) => {
  const ending = new AbortController();
  const { state, take, begun } = keep(() => ending.abort());
  const query = input === undefined ? '' : `?input=${encodeURIComponent(JSON.stringify(input))}`;
  const answer = await fetch(`${url}/trpc/${path}${query}`, {
    headers: { accept: 'text/event-stream', ...headersOf(pair) },
    signal: ending.signal,
  });
  if (answer.status !== 200) {
    state.code = ((await answer.json()) as { error: { data: { code: string } } }).error.data.code;
    return begun();
  }
  void readLines(answer.body!, (event, data, id) => {
    state.isStarted = true;
    if (event === 'serialized-error') state.code = (JSON.parse(data) as { data: { code: string } }).data.code;
    if (event === 'message' && id !== '') take({ id, data: JSON.parse(data) as object });
  }).finally(() => (state.isClosed = true));
  return begun();
};

async function readLines(
  body: ReadableStream<Uint8Array>,
  take: (event: string, data: string, id: string) => void,
): Promise<void> {
  let text = '';
  try {
    for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      const blocks = text.split('\n\n');
      text = blocks.pop()!;
      for (const block of blocks) {
        const field = (name: string): string => new RegExp(`^${name}: ?(.*)$`, 'm').exec(block)?.[1] ?? '';
        take(field('event') || 'message', field('data'), field('id'));
      }
    }
  } catch {
    // Cut off by this side.
  }
}
