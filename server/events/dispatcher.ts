import type { TrackedEnvelope } from '@trpc/server';
import type { Bus } from '../../db/bus.ts';
import type { Services } from '../kernel/context.ts';
import {
  streamKey,
  type StreamEvent,
  type StreamKind,
  type StreamName,
  type Streams,
  type SubscribeOptions,
} from '../kernel/streams.ts';
import { createAccessCheck } from './access-check.ts';
import { createDispatchLoop } from './dispatch-loop.ts';
import { createEventCache } from './event-cache.ts';
import { createEventReader, findLastSequence } from './event-reader.ts';
import { createSubscriber, subscriptionEvents, type SubscribedStream, type Subscriber } from './subscription.ts';

/*
 * The event dispatcher brings committed events to the subscribers of this process. `appendEvent` numbers an event under the
 * row lock of its stream; after the commit `notify` sends the stream's key over the bus; the dispatch loop of each process
 * reads the new events of all its subscribed streams in one statement, caches them, and wakes the subscribers, who take
 * them from the cache in their own time.
 *
 * Invariants:
 * - A subscriber receives each event of its stream once and in order. A gap in the numbers is a loss, and is reported with
 *   `stream.reset`.
 * - A notification is a hint: the loop also reads all streams once a second, however busy it is, so a lost one costs time
 *   and no event.
 * - A notification is never sent inside the transaction: NOTIFY would serialize all such commits.
 * - A subscriber is in the map before the end of its stream is looked up, so no event falls between table and cache.
 * - A subscriber holds a cursor and no events. It takes the next event only when its connection has room for it.
 * - Access is checked at the subscription and every two seconds, for all subscribers together.
 */
export type Dispatcher = Streams & {
  start(): void;
  stop(): Promise<void>;
};

type DispatcherServices = Pick<Services, 'database' | 'clock' | 'log' | 'settings' | 'connections'> & { bus: Bus };

export function createDispatcher(services: DispatcherServices): Dispatcher {
  const { database, settings, clock, log, bus } = services;
  const subscribed = new Map<string, SubscribedStream>();
  const cache = createEventCache();
  const reader = createEventReader({ database, settings }, cache);
  const loop = createDispatchLoop({ database, log, bus, subscribed, cache, reader });
  const accessCheck = createAccessCheck(services, subscribed);
  let sent = 0;

  async function subscribe<Event extends StreamEvent>(
    kind: StreamKind<Event>,
    options: SubscribeOptions,
  ): Promise<AsyncGenerator<TrackedEnvelope<Event>, void>> {
    const { subject, viewer, connection, signal } = options;
    const { db } = database.forCompany(viewer.companyId);
    const subscriber = createSubscriber(signal);
    const release = connection.addSubscription(subscriber);
    const { stream, remove } = addSubscriber(subscribed, kind, { companyId: viewer.companyId, subject }, subscriber);
    const leave = (): void => {
      release();
      remove();
    };
    async function* events(end: number) {
      try {
        const parts = { db, clock, cache, reader, onSent: () => (sent += 1) };
        yield* subscriptionEvents(parts, kind, options, { stream, subscriber, end });
      } finally {
        leave();
      }
    }

    // A generator that was never started does not reach its `finally`.
    signal.addEventListener('abort', leave, { once: true });
    try {
      const end = await findLastSequence(db, viewer.companyId, stream.stream);
      if (stream.position === undefined) {
        stream.position = end;
        loop.notifications.sendLocally(stream.key);
      }
      if (signal.aborted) leave();
      return events(end);
    } catch (error) {
      leave();
      throw error;
    }
  }

  return {
    subscribe,
    notify: loop.notifications.send,
    countSent: () => sent,
    start() {
      loop.notifications.listen();
      void loop.run();
      accessCheck.start();
    },
    stop: async () => void (await Promise.all([loop.stop(), accessCheck.stop()])),
  };
}

/** Adds a subscriber to its stream. `remove` removes it again, and the stream with its last subscriber. */
function addSubscriber<Event extends StreamEvent>(
  subscribed: Map<string, SubscribedStream>,
  kind: StreamKind<Event>,
  { companyId, subject }: StreamName,
  subscriber: Subscriber,
): { stream: SubscribedStream; remove(): void } {
  const name = `${kind.name} ${subject}`;
  const key = streamKey(companyId, name);
  const stream = subscribed.get(key) ?? {
    key,
    companyId,
    subject,
    stream: name,
    kind,
    position: undefined,
    subscribers: new Set(),
  };
  subscribed.set(key, stream);
  stream.subscribers.add(subscriber);
  return {
    stream,
    remove() {
      stream.subscribers.delete(subscriber);
      if (stream.subscribers.size === 0 && subscribed.get(key) === stream) subscribed.delete(key);
    },
  };
}
