import type { EventStream, StreamOptions, StreamStatus } from './call-types.ts';
import type { Caller } from './caller.ts';
import { Fault, isFault } from './fault.ts';
import { createServerSentEventsWay } from './server-sent-events.ts';
import type { ClientSession, Sessions } from './session.ts';
import { backoffMs, pause } from './waiting.ts';
import type { Way } from './way.ts';
import { createWebSocketWay } from './websocket.ts';

/** How events come: over a WebSocket, as server-sent events, or as gets through. */
export type EventsWay = 'auto' | 'websocket' | 'sse';

/** Where a WebSocket worked before, it is likelier that the service is away than that it no longer gets through. */
const socketFailuresMax = 3;

type Event = { id: number; type: string };

export type Streams = {
  follow(operation: string, input: unknown, options?: StreamOptions): EventStream<unknown>;
  /** Ends all of them, and their connection. */
  close(): void;
};

export function createStreams(parts: { baseUrl: string; way: EventsWay; caller: Caller; sessions: Sessions }): Streams {
  const { baseUrl, way, caller, sessions } = parts;
  const socket = createWebSocketWay(`${baseUrl.replace(/^http/, 'ws')}/trpc`, caller);
  const answers = createServerSentEventsWay(caller, baseUrl);
  const open = new Set<() => void>();
  /** Set where WebSockets seem not to get through; the next try after a cut is made with one again. */
  let isBlocked = way === 'sse' || typeof WebSocket === 'undefined';

  const present = (): Way => (isBlocked && way !== 'websocket' ? answers : socket);

  /** After so many failures in a row: whether the other way may get through where this one did not. */
  function turn(failed: Way, failures: number): void {
    if (way !== 'auto' || typeof WebSocket === 'undefined') return;
    isBlocked = failed === socket && (!socket.hasWorked() || failures >= socketFailuresMax);
  }

  sessions.watch(() => socket.drop());

  function follow(operation: string, input: unknown, { signal, onStatus }: StreamOptions = {}): EventStream<unknown> {
    const ending = new AbortController();
    let failure: Fault | undefined;
    let status: StreamStatus | undefined;
    const stop = (): void => ending.abort();
    // Another session is another person, or another company.
    const unwatch = sessions.watch(() => {
      failure = sessionEnded(operation);
      stop();
    });

    function say(next: StreamStatus): void {
      if (next === status) return;
      status = next;
      onStatus?.(next);
    }

    async function* run(): AsyncGenerator<unknown, void> {
      let position = (input as { lastEventId?: string | null } | undefined)?.lastEventId ?? 'now';
      let failures = 0;
      let hasBeenLive = false;
      const live = (): void => {
        failures = 0;
        hasBeenLive = true;
        say('live');
      };

      if (signal?.aborted === true) return;
      signal?.addEventListener('abort', stop, { once: true });
      open.add(stop);
      try {
        while (!ending.signal.aborted) {
          say('connecting');
          const session = await sessions.load();
          const chosen = present();
          let waitMs = 0;
          try {
            const asked = { ...(input as object | undefined), lastEventId: position };
            for await (const incoming of chosen.listen({ operation, input: asked, signal: ending.signal })) {
              // From the start it is not known where the stream stands, and so where to go on after a cut.
              if (incoming === 'started') {
                if (position !== 'now') live();
                continue;
              }
              const event = incoming.data as Event;
              const isNew = position === 'now' || event.type === 'stream.reset' || event.id > Number(position);
              position = String(event.id);
              live();
              if (isNew && event.type !== 'stream.opened') yield event;
            }
          } catch (error) {
            if (ending.signal.aborted) break;
            if (!(await passes(error, session, hasBeenLive))) throw error;
            waitMs = (error as Fault).retryAfterMs ?? 0;
          }
          if (ending.signal.aborted) break;
          failures += 1;
          turn(chosen, failures);
          say('waiting');
          await pause(Math.max(waitMs, backoffMs(failures)), ending.signal).catch(() => {});
        }
        if (failure) throw failure;
      } finally {
        unwatch();
        signal?.removeEventListener('abort', stop);
        open.delete(stop);
      }
    }

    async function passes(error: unknown, session: ClientSession | null, hasBeenLive: boolean): Promise<boolean> {
      if (!isFault(error)) return false;
      if (error.status === 401) {
        // What was said on this connection will not be believed next time either.
        socket.drop();
        try {
          return session !== null && (await sessions.recover(error, session, ending.signal));
        } catch (cause) {
          return isFault(cause) && cause.status !== 401;
        }
      }
      if (isFault(error, 'TOO_MANY_CONNECTIONS')) return hasBeenLive;
      return isFault(error, 'RATE_LIMITED') || error.status === 0 || error.status >= 500;
    }

    const events = run();
    return {
      next: () => events.next(),
      async return() {
        stop();
        await events.return();
        return { done: true, value: undefined };
      },
      [Symbol.asyncIterator]() {
        return this;
      },
    };
  }

  return {
    follow,
    close(): void {
      for (const stop of open) stop();
      socket.drop();
    },
  };
}

function sessionEnded(operation: string): Fault {
  return new Fault('SESSION_ENDED', 'The session of this stream has ended.', { status: 401, operation });
}
