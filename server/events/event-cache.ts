import { shareJson } from '../kernel/wire/shared-json.ts';
import type { StreamEvent } from '../kernel/streams.ts';

/** The size of all cached events together, in bytes of their JSON. */
const bytesMax = 4 * 1024 * 1024;
/** After this a subscriber who lacks the event reads it from the table, with the current state of its subject. */
const lifetimeMs = 1_000;

/** An event as all subscribers see it, with the length of its JSON. */
export type CachedEvent<Event extends StreamEvent = StreamEvent> = { event: Event; length: number };

/**
 * The events that were read lately, each once for all subscribers. Subscribers hold no events themselves, so a thousand
 * slow ones cost no more memory than one.
 */
export type EventCache = {
  add<Event extends StreamEvent>(streamKey: string, event: Event): CachedEvent<Event>;
  find<Event extends StreamEvent>(streamKey: string, id: number): CachedEvent<Event> | undefined;
  /** Removes expired events. */
  prune(): void;
};

export function createEventCache(): EventCache {
  const cached = new Map<string, CachedEvent & { expiresAt: number }>();
  let bytes = 0;

  function remove(name: string): void {
    bytes -= cached.get(name)?.length ?? 0;
    cached.delete(name);
  }

  function prune(): void {
    const now = performance.now();
    // A Map iterates in the order of insertion, so the oldest events come first.
    for (const [name, { expiresAt }] of cached) {
      if (bytes <= bytesMax && expiresAt > now) return;
      remove(name);
    }
  }

  return {
    add(streamKey, event) {
      const name = `${streamKey} ${event.id}`;
      remove(name);
      const added = { event, length: shareJson(event).length, expiresAt: performance.now() + lifetimeMs };
      cached.set(name, added);
      bytes += added.length;
      prune();
      return added;
    },
    // A stream has one kind, and a kind has one type of events.
    find: <Event extends StreamEvent>(streamKey: string, id: number) =>
      cached.get(`${streamKey} ${id}`) as CachedEvent<Event> | undefined,
    prune,
  };
}
