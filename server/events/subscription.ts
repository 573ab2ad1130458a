import { setTimeout as delay } from 'node:timers/promises';
import { tracked, type TrackedEnvelope } from '@trpc/server';
import type { Db } from '../../db/open.ts';
import type { Clock } from '../platform/clock.ts';
import type { ApiError } from '../errors/api-error.ts';
import { toApiError } from '../errors/errors.ts';
import type { StreamEvent, StreamKind, SubscribeOptions } from '../kernel/streams.ts';
import { findLastSequence, type EventReader } from './event-reader.ts';
import type { CachedEvent, EventCache } from './event-cache.ts';

/** A stream with subscribers in this process. */
export type SubscribedStream = {
  key: string;
  companyId: number;
  subject: number;
  stream: string;
  kind: StreamKind<StreamEvent>;
  /** The last event that was read; undefined until the first subscriber has found the end of the stream. */
  position: number | undefined;
  subscribers: Set<Subscriber>;
};

/** One subscriber of one stream, as the dispatcher sees it. */
export type Subscriber = {
  /** Wakes it: there may be a new event. */
  wake(): void;
  end(error: ApiError): void;
  /** Throws the error that ended it, if any. */
  throwIfEnded(): void;
  /** Waits for a new event; false after the signal was aborted. */
  wait(hasNew: () => boolean): Promise<boolean>;
};

export function createSubscriber(signal: AbortSignal): Subscriber {
  let ending: ApiError | undefined;
  let wake: () => void = () => {};
  signal.addEventListener('abort', () => wake(), { once: true });

  const isWaiting = (): boolean => !signal.aborted && !ending;

  function throwIfEnded(): void {
    if (ending) throw ending;
  }

  return {
    wake: () => wake(),
    end(error) {
      ending = error;
      wake();
    },
    throwIfEnded,
    async wait(hasNew) {
      while (isWaiting() && !hasNew()) await new Promise<void>((resolve) => (wake = resolve));
      throwIfEnded();
      return !signal.aborted;
    },
  };
}

export type SubscriptionServices = {
  db: Db;
  clock: Clock;
  cache: EventCache;
  reader: Pick<EventReader, 'readNext'>;
  onSent(): void;
};

/** The delay before an unavailable database is tried again. */
const retryMs = 1_000;

/**
 * The events of a stream for one subscriber, each once and in order, from the cache or else from the table. If the
 * table no longer has the next event, it sends `stream.reset` and the events from then on. The subscriber holds nothing
 * but its cursor.
 *
 * `subscriber` must be in `stream.subscribers` before `end`, the last event of the stream, is looked up.
 */
export async function* subscriptionEvents<Event extends StreamEvent>(
  { db, clock, cache, reader, onSent }: SubscriptionServices,
  kind: StreamKind<Event>,
  { viewer, position, connection, signal }: SubscribeOptions,
  { stream, subscriber, end }: { stream: SubscribedStream; subscriber: Subscriber; end: number },
): AsyncGenerator<TrackedEnvelope<Event>, void> {
  const { companyId, stream: name, key } = stream;
  const lastRead = () => stream.position ?? 0;

  function toSend(event: Event): TrackedEnvelope<Event> {
    subscriber.throwIfEnded();
    onSent();
    return tracked(String(event.id), kind.forViewer?.(event, viewer) ?? event);
  }
  const untilAnswered = <Answer>(query: () => Promise<Answer>) => retryWhileAway(query, subscriber, signal);
  const serviceEvent = (type: 'stream.reset' | 'stream.opened', id: number) =>
    toSend(kind.event.parse({ id, type, at: clock.now() }));

  if (position === 'now') yield serviceEvent('stream.opened', end);
  let cursor = typeof position === 'string' && position !== 'now' ? Number(position) : end;
  // A cursor beyond the end comes from another database, such as one that was restored since.
  let isForeign = cursor > end;
  const hasNew = () => isForeign || Math.max(end, lastRead()) > cursor;

  while (!signal.aborted) {
    for (let ready = connection.ready(); ready; ready = connection.ready()) await ready;
    let next: CachedEvent<Event> | undefined = cache.find<Event>(key, cursor + 1);
    if (!next) {
      if (!hasNew()) {
        if (await subscriber.wait(hasNew)) continue;
        return;
      }
      if (!isForeign)
        [next] = await untilAnswered(() => reader.readNext(kind, { companyId, stream: name, position: cursor }));
      if (connection.ready()) continue;
    }
    if (next) {
      connection.reserve(next.length);
      yield toSend(next.event);
      cursor += 1;
    } else {
      isForeign = false;
      // At least the position of this process, or hasNew would stay true for events that the table lacks.
      cursor = end = Math.max(await untilAnswered(() => findLastSequence(db, companyId, name)), lastRead());
      yield serviceEvent('stream.reset', cursor);
    }
  }
}

/** Retries until the database answers: no event is lost, so the subscriber need not know. */
async function retryWhileAway<Answer>(
  query: () => Promise<Answer>,
  subscriber: Subscriber,
  signal: AbortSignal,
): Promise<Answer> {
  for (;;) {
    try {
      return await query();
    } catch (error) {
      if (toApiError(error).definition.status !== 503) throw error;
      await delay(retryMs, undefined, { signal });
      subscriber.throwIfEnded();
    }
  }
}
