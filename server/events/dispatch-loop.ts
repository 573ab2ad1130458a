import type { Database } from '../../db/open.ts';
import { toApiError } from '../errors/errors.ts';
import { streamKey, type StoredEvent } from '../kernel/streams.ts';
import { createInterruptibleSleep } from '../platform/interruptible-sleep.ts';
import type { Log } from '../platform/log.ts';
import { createBusNotifications, type BusNotifications } from './bus-notifications.ts';
import type { EventCache } from './event-cache.ts';
import { listEvents, type EventReader } from './event-reader.ts';
import type { SubscribedStream } from './subscription.ts';
import type { Bus } from '../../db/bus.ts';

/** Reads all subscribed streams at least so often by the clock, however often notifications wake the loop. */
const pollMs = 1_000;
/** The most events that one statement reads, of one stream and in all. */
const streamLimit = 100;
const totalLimit = 5_000;

type Parts = {
  database: Database;
  log: Log;
  bus: Bus;
  subscribed: ReadonlyMap<string, SubscribedStream>;
  cache: EventCache;
  reader: EventReader;
};

/** The loop that reads new events of all subscribed streams, caches them and wakes their subscribers. */
export type DispatchLoop = {
  notifications: BusNotifications;
  run(): Promise<void>;
  stop(): Promise<void>;
};

export function createDispatchLoop({ database, log, bus, subscribed, cache, reader }: Parts): DispatchLoop {
  const stopping = new AbortController();
  const sleep = createInterruptibleSleep();
  const notifications = createBusNotifications(bus, sleep.wake);
  let loop: Promise<void> | undefined;

  const subscribedTo = ({ companyId, stream }: StoredEvent) => subscribed.get(streamKey(companyId, stream));

  /** Reads the next events of these streams in one statement; returns the streams that may have more. */
  async function read(streams: SubscribedStream[]): Promise<SubscribedStream[]> {
    const cursors = streams.flatMap((one) => (one.position === undefined ? [] : { ...one, position: one.position }));
    if (cursors.length === 0) return [];
    const limit = Math.max(1, Math.min(streamLimit, Math.floor(totalLimit / cursors.length)));
    const stored = await listEvents(database.acrossCompanies.db, cursors, limit);
    const groups = Map.groupBy(stored, (event) => `${event.companyId} ${subscribedTo(event)?.kind.name}`);
    for (const group of groups.values()) {
      const kind = subscribedTo(group[0]!)?.kind;
      if (kind) await load(kind, group);
    }
    const byStream = Map.groupBy(stored, subscribedTo);
    return [...byStream].flatMap(([one, own]) => (one && own.length === limit ? one : []));
  }

  /** Caches events and wakes their subscribers. An event that cannot be built keeps back its own stream, and no other. */
  async function load(kind: SubscribedStream['kind'], group: StoredEvent[]): Promise<void> {
    try {
      for (const batch of await reader.toBatches(kind, group)) {
        await reader.load(kind, batch);
        for (const [stream, own] of Map.groupBy(batch, subscribedTo)) moveOn(stream, own.at(-1)!.sequence);
      }
    } catch (error) {
      if (toApiError(error).definition.code !== 'INTERNAL_ERROR') throw error;
      const byStream = Map.groupBy(group, subscribedTo);
      if (byStream.size > 1) for (const own of byStream.values()) await load(kind, own);
      else log.error({ err: error, stream: group[0]!.stream }, 'an event could not be built: its subscribers wait');
    }
  }

  async function work(): Promise<void> {
    let readAllAt = performance.now();
    while (!stopping.signal.aborted) {
      const notified = notifications.take();
      const isAll = notified === 'all' || performance.now() - readAllAt >= pollMs;
      if (isAll) readAllAt = performance.now();
      const streams = isAll ? [...subscribed.values()] : notified.flatMap((key) => subscribed.get(key) ?? []);
      try {
        // A stream with more to read takes its turn with those that were notified since.
        for (const { key } of await read(streams)) notifications.sendLocally(key);
      } catch (error) {
        log.warn({ err: error }, 'events wait: they could not be read');
        // The streams that were taken may not have been read.
        notifications.addAll();
        sleep.forget();
        readAllAt = performance.now();
      }
      cache.prune();
      await sleep.take(Math.max(0, readAllAt + pollMs - performance.now()));
    }
  }

  return {
    notifications,
    run: () => (loop ??= work()),
    async stop() {
      stopping.abort();
      sleep.wake();
      await loop;
    },
  };
}

/** Moves a stream to its last event and wakes the subscribers, who take the events from the cache. */
function moveOn(stream: SubscribedStream | undefined, sequence: number): void {
  if (stream?.position === undefined || stream.position >= sequence) return;
  stream.position = sequence;
  for (const subscriber of stream.subscribers) subscriber.wake();
}
