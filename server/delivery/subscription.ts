import { setTimeout as delay } from 'node:timers/promises';
import { tracked, type TrackedEnvelope } from '@trpc/server';
import type { Db } from '../../db/open.ts';
import type { Clock } from '../kernel/context.ts';
import { toFaultError } from '../kernel/faults.ts';
import { keyOf, type Follow, type StreamEvent, type StreamKind } from '../kernel/streams.ts';
import type { FactsReader } from './facts-reader.ts';
import type { Follower } from './follower.ts';
import type { Recent, Shown } from './recent.ts';
import { findEnd } from './stored-facts.ts';

export type SubscriptionServices = {
  db: Db;
  clock: Clock;
  recent: Recent;
  reader: Pick<FactsReader, 'readOn'>;
  onSent(): void;
};

/** How long a database that is away is left alone. */
const retryMs = 1_000;
/**
 * The events of a stream for one subscriber, each once and in order. `follower` must be woken by new ones already
 * when the stream's `end` is looked up, before the caller is told that the subscription has begun; `newest` is the
 * number of the latest that anybody here has read. Each event is the successor of the one before; where memory does
 * not have that, the table does; where the table does not have it either, the subscriber is told so by `stream.reset`.
 *
 * While it waits for its reader it keeps nothing but its cursor.
 */
export async function* subscription<Event extends StreamEvent>(
  { db, clock, recent, reader, onSent }: SubscriptionServices,
  kind: StreamKind<Event>,
  { subject, viewer, position, connection, signal }: Follow,
  { follower, end, newest }: { follower: Follower; end: number; newest(): number },
): AsyncGenerator<TrackedEnvelope<Event>, void> {
  const { companyId } = viewer;
  const stream = `${kind.name} ${subject}`;
  const key = keyOf(companyId, stream);

  function toSend(event: Event): TrackedEnvelope<Event> {
    follower.throwIfEnded();
    onSent();
    return tracked(String(event.id), kind.forViewer?.(event, viewer) ?? event);
  }
  const say = (type: 'stream.reset' | 'stream.opened', id: number) =>
    toSend(kind.event.parse({ id, type, at: clock.now() }));

  /** Whoever listens already waits until the database is back: nothing was lost, so there is nothing to tell them. */
  async function outlast<Answer>(look: () => Promise<Answer>): Promise<Answer> {
    for (;;) {
      try {
        return await look();
      } catch (error) {
        if (toFaultError(error).fault.status !== 503) throw error;
        await delay(retryMs, undefined, { signal });
        follower.throwIfEnded();
      }
    }
  }

  async function readOn(cursor: number): Promise<Shown<Event> | undefined> {
    const [next] = await outlast(() => reader.readOn(kind, { companyId, stream, cursor }));
    return next;
  }

  if (position === 'now') yield say('stream.opened', end);
  let cursor = typeof position === 'string' && position !== 'now' ? Number(position) : end;
  let isElsewhere = cursor > end;
  const hasNews = () => isElsewhere || Math.max(end, newest()) > cursor;

  while (!signal.aborted) {
    for (let taken = connection.ready(); taken; taken = connection.ready()) await taken;
    let next = recent.find<Event>(key, cursor + 1);
    if (!next) {
      if (!hasNews()) {
        if (await follower.next(hasNews)) continue;
        return;
      }
      next = isElsewhere ? undefined : await readOn(cursor);
      if (connection.ready()) continue;
    }
    if (next) {
      connection.expect(next.length);
      yield toSend(next.event);
      cursor += 1;
    } else {
      isElsewhere = false;
      // Never behind what was read here: there would be news again, and again none in the table.
      cursor = end = Math.max(await outlast(() => findEnd(db, companyId, stream)), newest());
      yield say('stream.reset', cursor);
    }
  }
}
