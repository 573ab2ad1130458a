import type { EventStream, StreamOptions, StreamStatus } from './call-types.ts';
import type { Caller } from './caller.ts';
import type { ClientSession } from './client-session.ts';
import { ApiError, isApiError } from './api-error.ts';
import type { Sessions } from './sessions.ts';
import { backoffMs, pause } from './waiting.ts';
import type { Transport, TransportChoice } from './transport.ts';

type Parts = {
  operation: string;
  input: unknown;
  options: StreamOptions;
  transports: TransportChoice;
  sessions: Sessions;
  explained: Caller['explained'];
  /** Functions that end the open streams. */
  open: Set<() => void>;
};

/** Never rejects. */
type TellStatus = (...state: Parameters<NonNullable<StreamOptions['onStatus']>>) => Promise<void>;

type Event = { id: number; type: string };

/** One stream: it subscribes again after each cut, at its cursor, until it is ended. */
export function createStream(parts: Parts): EventStream<unknown> {
  const { operation, options, sessions, open } = parts;
  const { signal } = options;
  const ending = new AbortController();
  const stop = (): void => ending.abort();

  async function* run(): AsyncGenerator<unknown, void> {
    if (signal?.aborted === true) return;
    let failure: unknown;
    function fail(error: unknown): void {
      if (!ending.signal.aborted) failure = error;
      stop();
    }
    const tellStatus: TellStatus = async (...state) => {
      try {
        await options.onStatus?.(...state);
      } catch (error) {
        fail(error);
      }
    };
    // Another session may belong to another person or company.
    const unwatch = sessions.watch(() => {
      const why = 'This session has ended: sign in again.';
      fail(new ApiError('SESSION_ENDED', why, { status: 401, operation }));
    });
    signal?.addEventListener('abort', stop, { once: true });
    open.add(stop);
    try {
      yield* receive(parts, tellStatus, ending.signal);
      if (failure !== undefined) throw failure;
    } finally {
      unwatch();
      signal?.removeEventListener('abort', stop);
      open.delete(stop);
    }
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

async function* receive(
  { operation, input, transports, sessions, explained }: Parts,
  tellStatus: TellStatus,
  ended: AbortSignal,
): AsyncGenerator<unknown, void> {
  let position = (input as { lastEventId?: string | null }).lastEventId ?? 'now';
  let failures = 0;
  let hasBeenLive = false;
  let status: StreamStatus | undefined;

  function setStatus(next: StreamStatus, { name }: Transport): void {
    if (next === 'live') {
      failures = 0;
      hasBeenLive = true;
    }
    if (next !== status) void tellStatus((status = next), name);
  }

  async function hasOtherTokens(error: unknown, session: ClientSession | null, transport: Transport): Promise<boolean> {
    if (!isApiError(error) || error.status !== 401 || !session) return false;
    // The next subscription needs a connection with other credentials.
    transport.disconnect();
    try {
      return await sessions.recover(error, session, ended);
    } catch (cause) {
      // A refresh that fails temporarily is retried.
      return isPassing(cause);
    }
  }

  while (!ended.aborted) {
    const transport = transports.current();
    setStatus('connecting', transport);
    const session = await sessions.load();
    let waitMs = 0;
    try {
      const asked = { ...(input as object), lastEventId: position };
      for await (const incoming of transport.subscribe({ operation, input: asked, signal: ended })) {
        if (incoming === 'started') {
          // Without an event the cursor is unknown, so a cut would lose events.
          if (position !== 'now') setStatus('live', transport);
          continue;
        }
        const event = incoming.data as Event;
        const isNew = position === 'now' || event.type === 'stream.reset' || event.id > Number(position);
        position = String(event.id);
        setStatus('live', transport);
        if (isNew && event.type !== 'stream.opened') yield event;
      }
    } catch (error) {
      if (ended.aborted) return;
      // While the service is replaced, a proxy may answer in its place, and connections that are gone may still count.
      const isAway = hasBeenLive && isApiError(error, 'TOO_MANY_CONNECTIONS', 'UNEXPECTED_ANSWER');
      const passes = isAway || isPassing(error);
      if (!passes && !(await hasOtherTokens(error, session, transport))) throw explained(error);
      waitMs = (error as ApiError).retryAfterMs ?? 0;
    }
    if (ended.aborted) return;
    failures += 1;
    transports.failed(transport, failures);
    setStatus('waiting', transport);
    await pause(Math.max(waitMs, backoffMs(failures)), ended).catch(() => {});
  }
}

const isPassing = (error: unknown): boolean =>
  isApiError(error) && (error.status === 0 || error.status >= 500 || error.code === 'RATE_LIMITED');
