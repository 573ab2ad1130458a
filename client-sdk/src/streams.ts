import type { EventStream, StreamOptions } from './call-types.ts';
import type { Caller } from './caller.ts';
import { createServerSentEventsTransport } from './server-sent-events.ts';
import type { Sessions } from './sessions.ts';
import { createStream } from './stream.ts';
import type { Transport, TransportChoice } from './transport.ts';
import { isOffline } from './waiting.ts';
import { createWebSocketTransport } from './websocket.ts';

/** The transport of events: a WebSocket, server-sent events, or the one that gets through. */
export type EventsTransport = 'auto' | 'websocket' | 'sse';

export type Streams = {
  subscribe(operation: string, input: unknown, options?: StreamOptions): EventStream<unknown>;
  /** Ends all streams and their connection. */
  close(): void;
};

/** After a WebSocket has worked, failures are likelier an outage of the service than a proxy that blocks WebSockets. */
const socketFailuresMax = 3;

/** The streams of a client, over one WebSocket or over server-sent events. */
export function createStreams({
  baseUrl,
  transport,
  caller,
  sessions,
}: {
  baseUrl: string;
  transport: EventsTransport;
  caller: Caller;
  sessions: Sessions;
}): Streams {
  const socket = createWebSocketTransport(`${baseUrl.replace(/^http/, 'ws')}/trpc`, caller);
  const serverSentEvents = createServerSentEventsTransport(caller, baseUrl);
  const open = new Set<() => void>();
  /** WebSockets seem not to get through. After the next failure one is tried again. */
  let isBlocked = transport === 'sse' || typeof WebSocket === 'undefined';

  const transports: TransportChoice = {
    current: () => (isBlocked ? serverSentEvents : socket),
    failed(tried: Transport, failures: number) {
      if (transport !== 'auto' || typeof WebSocket === 'undefined' || isOffline()) return;
      isBlocked = tried === socket && (!socket.hasWorked() || failures >= socketFailuresMax);
    },
  };
  sessions.watch(socket.disconnect);

  return {
    subscribe: (operation, input, options = {}) =>
      createStream({ operation, input, options, transports, sessions, open, explained: caller.explained }),
    close() {
      for (const stop of open) stop();
      socket.disconnect();
    },
  };
}
