import { shareJson } from '../kernel/shared-json.ts';
import type { StreamEvent } from '../kernel/streams.ts';

/** What the events of all streams together may take, in bytes of their JSON. */
const lengthMax = 4 * 1024 * 1024;
/** Whoever lacks an event after this reads it from the table, and sees what it tells of as it is then. */
const keptMs = 1_000;

/** An event as all see it, with the length of its JSON. */
export type Shown<Event extends StreamEvent = StreamEvent> = { event: Event; length: number };

/**
 * The events that were read lately. Each is kept once, for all who have still to be sent it: subscribers themselves keep
 * nothing, so that a thousand who are late cost no more than one.
 */
export type Recent = {
  keep<Event extends StreamEvent>(stream: string, event: Event): Shown<Event>;
  find<Event extends StreamEvent>(stream: string, id: number): Shown<Event> | undefined;
  /** Lets go of what has been kept for long enough. */
  prune(): void;
};

export function createRecent(): Recent {
  const kept = new Map<string, Shown & { until: number }>();
  let length = 0;

  function drop(name: string): void {
    length -= kept.get(name)?.length ?? 0;
    kept.delete(name);
  }

  function prune(): void {
    const now = performance.now();
    // In the order in which they came.
    for (const [name, { until }] of kept) {
      if (length <= lengthMax && until > now) return;
      drop(name);
    }
  }

  return {
    keep(stream, event) {
      const name = `${stream} ${event.id}`;
      drop(name);
      const shown = { event, length: shareJson(event).length, until: performance.now() + keptMs };
      kept.set(name, shown);
      length += shown.length;
      prune();
      return shown;
    },
    // A stream has one kind, and that has one type of events.
    find: <Event extends StreamEvent>(stream: string, id: number) =>
      kept.get(`${stream} ${id}`) as Shown<Event> | undefined,
    prune,
  };
}
