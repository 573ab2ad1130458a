import type { EventStream, StreamOptions } from './call-types.ts';
import type { Caller } from './caller.ts';
import { createServerSentEventsWay } from './server-sent-events.ts';
import type { Sessions } from './sessions.ts';
import { createStream } from './stream.ts';
import type { Way, Ways } from './way.ts';
import { createWebSocketWay } from './websocket.ts';

/** How events come: over a WebSocket, as server-sent events, or as gets through. */
export type EventsWay = 'auto' | 'websocket' | 'sse';

export type Streams = {
  follow(operation: string, input: unknown, options?: StreamOptions): EventStream<unknown>;
  /** Ends all of them, and their connection. */
  close(): void;
};

/** Where a WebSocket worked before, it is likelier that the service is away than that it no longer gets through. */
const socketFailuresMax = 3;

/** The streams of a client: one connection for all, and the choice of the way. */
export function createStreams({
  baseUrl,
  way,
  caller,
  sessions,
}: {
  baseUrl: string;
  way: EventsWay;
  caller: Caller;
  sessions: Sessions;
}): Streams {
  const socket = createWebSocketWay(`${baseUrl.replace(/^http/, 'ws')}/trpc`, caller);
  const answers = createServerSentEventsWay(caller, baseUrl);
  const open = new Set<() => void>();
  /** Set where WebSockets seem not to get through; the next try after a cut is made with one again. */
  let isBlocked = way === 'sse' || typeof WebSocket === 'undefined';

  const ways: Ways = {
    present: () => (isBlocked && way !== 'websocket' ? answers : socket),
    failed(tried: Way, failures: number) {
      if (way !== 'auto' || typeof WebSocket === 'undefined') return;
      isBlocked = tried === socket && (!socket.hasWorked() || failures >= socketFailuresMax);
    },
  };
  sessions.watch(socket.drop);

  return {
    follow: (operation, input, options = {}) =>
      createStream({ operation, input, options, ways, sessions, open, inWords: caller.inWords }),
    close() {
      for (const stop of open) stop();
      socket.drop();
    },
  };
}
