import { setTimeout as delay } from 'node:timers/promises';
import type { TrackedEnvelope } from '@trpc/server';
import type { Bus } from '../../db/bus.ts';
import type { Database } from '../../db/open.ts';
import type { Connections } from '../kernel/connections.ts';
import type { Clock, Log, Settings } from '../kernel/context.ts';
import { keyOf, type Follow, type StreamEvent, type StreamKind, type Streams } from '../kernel/streams.ts';
import { createFollower, type Follower } from './follower.ts';
import { findEnd, listFacts, pageSize } from './stored-facts.ts';
import { showFacts, subscription } from './subscription.ts';
import { createWakeUps } from './wake-ups.ts';
import { createWatch, watchMs } from './watch.ts';

/**
 * Brings facts to those who listen. One reader in each process reads the new facts of all streams that somebody here
 * follows, in one statement, has them shown once, and hands them round in memory. It looks when it is woken and once a
 * second: a lost wake-up costs time, not data. Whoever comes back after a while reads what they missed from the table.
 */
export type Tail = Streams & {
  start(): void;
  stop(): Promise<void>;
};

/** A stream that somebody in this process follows. */
export type Followed = {
  companyId: number;
  subject: number;
  stream: string;
  kind: StreamKind<StreamEvent>;
  /** What was handed round so far; undefined until the first one who follows has found out where the stream stands. */
  position: number | undefined;
  followers: Set<Follower>;
};

export type TailServices = {
  database: Database;
  clock: Clock;
  log: Log;
  settings: Settings;
  connections: Connections;
  bus: Bus;
};

const pollMs = 1_000;

export function createTail(services: TailServices): Tail {
  const { database, settings, clock, log, bus } = services;
  const { db } = database;
  const followed = new Map<string, Followed>();
  const stopping = new AbortController();
  let nap = new AbortController();
  let loop: Promise<unknown> | undefined;
  let sent = 0;
  const wakeUps = createWakeUps(bus, () => nap.abort());
  const watch = createWatch(services, followed);

  /** Hands round what is new in the given streams; answers those of which there may be more. */
  async function read(streams: Followed[]): Promise<Followed[]> {
    const begun = streams.flatMap((one) => (one.position === undefined ? [] : { ...one, position: one.position }));
    if (begun.length === 0) return [];
    const facts = await listFacts(db, begun);
    const kindOf = (key: string) => followed.get(key)?.kind;
    const groups = Map.groupBy(facts, (one) => `${one.companyId} ${kindOf(keyOf(one.companyId, one.stream))?.name}`);
    const more: Followed[] = [];
    for (const group of groups.values()) {
      const { companyId, stream } = group[0]!;
      const kind = kindOf(keyOf(companyId, stream));
      if (!kind) continue;
      const events = await showFacts({ db, settings }, kind, group);
      const indexes = Map.groupBy(group.keys(), (index) => keyOf(companyId, group[index]!.stream));
      for (const [key, own] of indexes) {
        const one = followed.get(key);
        if (!one) continue;
        handRound(
          one,
          own.map((index) => events[index]!),
        );
        if (own.length === pageSize) more.push(one);
      }
    }
    return more;
  }

  function handRound(one: Followed, events: StreamEvent[]): void {
    const news = events.filter(({ id }) => id > (one.position ?? Infinity));
    if (news.length === 0) return;
    one.position = news.at(-1)!.id;
    for (const follower of one.followers) follower.push(news);
  }

  async function work(): Promise<void> {
    while (!stopping.signal.aborted) {
      nap = new AbortController();
      const woken = wakeUps.take();
      let streams = woken === 'all' ? [...followed.values()] : woken.flatMap((key) => followed.get(key) ?? []);
      try {
        while (streams.length > 0) streams = await read(streams);
      } catch (error) {
        log.warn({ err: error }, 'events wait: they could not be read');
        nap = new AbortController();
      }
      const { signal } = nap;
      await delay(pollMs, undefined, { signal: AbortSignal.any([signal, stopping.signal]) }).catch(() => {});
      if (!signal.aborted) wakeUps.all();
    }
  }

  async function guard(): Promise<void> {
    while (!stopping.signal.aborted) {
      await delay(watchMs, undefined, { signal: stopping.signal }).catch(() => {});
      if (stopping.signal.aborted) return;
      await watch().catch((error: unknown) => log.warn({ err: error }, 'who may listen could not be looked up'));
    }
  }

  async function follow<Event extends StreamEvent>(
    kind: StreamKind<Event>,
    given: Follow,
  ): Promise<AsyncGenerator<TrackedEnvelope<Event>, void>> {
    const { subject, viewer, connection, signal } = given;
    const { companyId } = viewer;
    const stream = `${kind.name} ${subject}`;
    const key = keyOf(companyId, stream);
    const follower = createFollower<Event>(signal);
    // The map does not know which kind has which events; a stream has one kind.
    const hidden = follower as unknown as Follower;
    const release = connection.admit(follower);
    const one = followed.get(key) ?? { companyId, subject, stream, kind, position: undefined, followers: new Set() };
    followed.set(key, one);
    // Before anything is read, so that nothing is lost between the table and memory.
    one.followers.add(hidden);

    function leave(): void {
      release();
      one.followers.delete(hidden);
      if (one.followers.size === 0 && followed.get(key) === one) followed.delete(key);
    }
    async function* events(end: number) {
      try {
        yield* subscription({ db, settings, clock, onSent: () => (sent += 1) }, kind, given, { follower, end });
      } finally {
        leave();
      }
    }

    // A caller who is gone before the first event is asked for never comes to the end of the generator.
    signal.addEventListener('abort', leave, { once: true });
    try {
      const end = await findEnd(db, companyId, stream);
      if (one.position === undefined) {
        one.position = end;
        wakeUps.look(key);
      }
      if (signal.aborted) leave();
      return events(end);
    } catch (error) {
      leave();
      throw error;
    }
  }

  return {
    follow,
    wake: (streams) => wakeUps.send(streams),
    countSent: () => sent,
    start() {
      wakeUps.listen();
      loop ??= Promise.all([work(), guard()]);
    },
    async stop() {
      stopping.abort();
      await loop;
    },
  };
}
