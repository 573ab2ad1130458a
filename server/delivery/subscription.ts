import { tracked, type TrackedEnvelope } from '@trpc/server';
import type { Db } from '../../db/open.ts';
import type { Clock, Settings } from '../kernel/context.ts';
import type { Follow, StoredFact, StreamEvent, StreamKind } from '../kernel/streams.ts';
import type { Follower } from './follower.ts';
import { findEnd, listFacts, pageSize } from './stored-facts.ts';

export type SubscriptionServices = { db: Db; settings: Settings; clock: Clock; onSent(): void };

/** Has facts of one company shown; nothing gets out that the kind does not declare. */
export async function showFacts<Event extends StreamEvent>(
  { db, settings }: Pick<SubscriptionServices, 'db' | 'settings'>,
  kind: StreamKind<Event>,
  facts: StoredFact[],
): Promise<Event[]> {
  const [first] = facts;
  if (!first) return [];
  const shown = await kind.show({ db, settings }, first.companyId, facts);
  return shown.map((event) => kind.event.parse(event));
}

/**
 * The events of a stream for one subscriber, each once and in order. `follower` must be handed the new ones already
 * when the stream's `end` is looked up, before the caller is told that the subscription has begun. Each event is the successor of the one before; where memory does not have that, the table
 * does; where the table does not have it either, the subscriber is told so by `stream.reset`.
 */
export async function* subscription<Event extends StreamEvent>(
  services: SubscriptionServices,
  kind: StreamKind<Event>,
  { subject, viewer, position, connection, signal }: Follow,
  { follower, end }: { follower: Follower<Event>; end: number },
): AsyncGenerator<TrackedEnvelope<Event>, void> {
  const { db, clock, onSent } = services;
  const { companyId } = viewer;
  const stream = `${kind.name} ${subject}`;

  async function send(event: Event): Promise<TrackedEnvelope<Event>> {
    await connection.ready();
    follower.throwIfEnded();
    onSent();
    return tracked(String(event.id), kind.forViewer?.(event, viewer) ?? event);
  }
  const say = (type: 'stream.reset' | 'stream.opened', id: number) =>
    send(kind.event.parse({ id, type, at: clock.now() }));

  /** The next page from the table, or undefined where what comes next is no longer there. */
  async function readOn(): Promise<StoredFact[] | undefined> {
    const facts = await listFacts(db, [{ companyId, stream, position: cursor }]);
    const isWhole = facts.every((fact, index) => fact.sequence === cursor + 1 + index);
    return isWhole && (facts.length > 0 || cursor === end) ? facts : undefined;
  }

  let cursor = end;
  if (position === 'now') yield await say('stream.opened', cursor);
  else if (position !== undefined && position !== null) cursor = Number(position);
  if (cursor !== end) follower.miss();

  do {
    let isBehind = follower.hasMissed();
    while (isBehind && !signal.aborted) {
      const facts = await readOn();
      if (!facts) {
        cursor = end = await findEnd(db, companyId, stream);
        yield await say('stream.reset', cursor);
        break;
      }
      for (const event of await showFacts(services, kind, facts)) {
        yield await send(event);
        cursor = event.id;
      }
      end = Math.max(end, cursor);
      isBehind = facts.length === pageSize;
    }
    for (let event = follower.take(); event && !signal.aborted; event = follower.take()) {
      if (event.id <= cursor) continue;
      end = event.id;
      if (event.id !== cursor + 1) {
        follower.miss();
        break;
      }
      yield await send(event);
      cursor = event.id;
    }
  } while (await follower.next());
}
