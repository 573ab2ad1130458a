import type { EventStream, StreamOptions, StreamStatus } from './call-types.ts';
import type { Caller } from './caller.ts';
import type { ClientSession } from './client-session.ts';
import { Fault, isFault } from './fault.ts';
import type { Sessions } from './sessions.ts';
import { backoffMs, pause } from './waiting.ts';
import type { Way, Ways } from './way.ts';

type Parts = {
  operation: string;
  input: unknown;
  options: StreamOptions;
  ways: Ways;
  sessions: Sessions;
  inWords: Caller['inWords'];
  /** How to end each stream that runs. */
  open: Set<() => void>;
};

type Event = { id: number; type: string };

/** One stream: it listens on whatever way there is, and after each cut goes on where it was, until it is ended. */
export function createStream(parts: Parts): EventStream<unknown> {
  const { operation, options, sessions, open } = parts;
  const { signal } = options;
  const ending = new AbortController();
  const stop = (): void => ending.abort();

  async function* run(): AsyncGenerator<unknown, void> {
    if (signal?.aborted === true) return;
    let failure: Fault | undefined;
    // Another session is another person, or another company.
    const unwatch = sessions.watch(() => {
      const why = 'The session of this stream has ended: sign in again.';
      failure = new Fault('SESSION_ENDED', why, { status: 401, operation });
      stop();
    });
    signal?.addEventListener('abort', stop, { once: true });
    open.add(stop);
    try {
      yield* listen(parts, ending.signal);
      if (failure) throw failure;
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

async function* listen(
  { operation, input, options, ways, sessions, inWords }: Parts,
  ended: AbortSignal,
): AsyncGenerator<unknown, void> {
  let position = (input as { lastEventId?: string | null }).lastEventId ?? 'now';
  let failures = 0;
  let hasBeenLive = false;
  let status: StreamStatus | undefined;

  function say(next: StreamStatus): void {
    if (next === 'live') {
      failures = 0;
      hasBeenLive = true;
    }
    if (next !== status) options.onStatus?.((status = next));
  }

  async function hasOtherTokens(error: unknown, session: ClientSession | null, way: Way): Promise<boolean> {
    if (!isFault(error) || error.status !== 401 || !session) return false;
    // What was said on this connection will not be believed next time either.
    way.drop();
    try {
      return await sessions.recover(error, session, ended);
    } catch (cause) {
      // A refresh that fails for now is tried again.
      return isPassing(cause);
    }
  }

  while (!ended.aborted) {
    say('connecting');
    const session = await sessions.load();
    const way = ways.present();
    let waitMs = 0;
    try {
      const asked = { ...(input as object), lastEventId: position };
      for await (const incoming of way.listen({ operation, input: asked, signal: ended })) {
        if (incoming === 'started') {
          // At first it is not known where the stream stands, and so where to go on after a cut.
          if (position !== 'now') say('live');
          continue;
        }
        const event = incoming.data as Event;
        const isNew = position === 'now' || event.type === 'stream.reset' || event.id > Number(position);
        position = String(event.id);
        say('live');
        if (isNew && event.type !== 'stream.opened') yield event;
      }
    } catch (error) {
      if (ended.aborted) return;
      const passes = isFault(error, 'TOO_MANY_CONNECTIONS') ? hasBeenLive : isPassing(error);
      if (!passes && !(await hasOtherTokens(error, session, way))) throw inWords(error);
      waitMs = (error as Fault).retryAfterMs ?? 0;
    }
    if (ended.aborted) return;
    failures += 1;
    ways.failed(way, failures);
    say('waiting');
    await pause(Math.max(waitMs, backoffMs(failures)), ended).catch(() => {});
  }
}

const isPassing = (error: unknown): boolean =>
  isFault(error) && (error.status === 0 || error.status >= 500 || error.code === 'RATE_LIMITED');
