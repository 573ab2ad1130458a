import { LRUCache } from 'lru-cache';
import { shareJson } from '../kernel/wire/shared-json.ts';
import type { StreamEvent } from '../kernel/streams.ts';

/** The size limit of all cached events, in bytes of their JSON. */
const bytesMax = 4 * 1024 * 1024;
/**
 * Events leave the cache after this time; a subscriber who still needs one reads it from the table, with the current
 * state of its subject.
 */
const lifetimeMs = 1_000;

/** An event as all subscribers see it, with the length of its JSON. */
export type CachedEvent<Event extends StreamEvent = StreamEvent> = { event: Event; length: number };

/**
 * Recently read events, each stored once for all subscribers. Subscribers hold no events themselves, so a thousand slow
 * ones need no more memory than one.
 */
export type EventCache = {
  add<Event extends StreamEvent>(streamKey: string, event: Event): CachedEvent<Event>;
  find<Event extends StreamEvent>(streamKey: string, id: number): CachedEvent<Event> | undefined;
  /** Removes expired events. */
  prune(): void;
};

export function createEventCache(): EventCache {
  const cached = new LRUCache<string, CachedEvent>({
    maxSize: bytesMax,
    sizeCalculation: ({ length }) => length,
    ttl: lifetimeMs,
    // No timer keeps the process alive, and no event outlives its second.
    ttlResolution: 0,
  });
  return {
    add(streamKey, event) {
      const added = { event, length: shareJson(event).length };
      cached.set(`${streamKey} ${event.id}`, added);
      return added;
    },
    // `peek`: the oldest event goes first, however often it was read. A stream has one kind, and a kind has one type of events.
    find: <Event extends StreamEvent>(streamKey: string, id: number) =>
      cached.peek(`${streamKey} ${id}`) as CachedEvent<Event> | undefined,
    prune: () => void cached.purgeStale(),
  };
}
