import { setTimeout as delay } from 'node:timers/promises';
import type { TrackedEnvelope } from '@trpc/server';
import type { Bus } from '../../db/bus.ts';
import type { Database } from '../../db/open.ts';
import type { Connections } from '../kernel/connections.ts';
import type { Clock, Log, Settings } from '../kernel/context.ts';
import {
  keyOf,
  type Follow,
  type StoredFact,
  type StreamEvent,
  type StreamKind,
  type Streams,
} from '../kernel/streams.ts';
import { createFactsReader } from './facts-reader.ts';
import { createFollower, type Follower } from './follower.ts';
import { createNap } from './nap.ts';
import { createRecent } from './recent.ts';
import { findEnd, listFacts } from './stored-facts.ts';
import { subscription } from './subscription.ts';
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
  /** The latest that was read; undefined until the first one who follows has found out where the stream stands. */
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
/** How many facts are read at once, of one stream and of all together. */
const pageSize = 100;
const factsMax = 5_000;

export function createTail(services: TailServices): Tail {
  const { database, settings, clock, log, bus } = services;
  const followed = new Map<string, Followed>();
  const stopping = new AbortController();
  const nap = createNap();
  let loop: Promise<unknown> | undefined;
  let countSent = 0;
  const wakeUps = createWakeUps(bus, nap.wake);
  const watch = createWatch(services, followed);
  const recent = createRecent();
  const reader = createFactsReader({ database, settings }, recent);

  /** Reads what is new in the given streams and tells who follows them; answers those of which there may be more. */
  async function read(streams: Followed[]): Promise<Followed[]> {
    const begun = streams.flatMap((one) => (one.position === undefined ? [] : { ...one, position: one.position }));
    if (begun.length === 0) return [];
    const limit = Math.max(1, Math.min(pageSize, Math.floor(factsMax / begun.length)));
    const facts = await listFacts(database.acrossCompanies.db, begun, limit);
    const followedOf = ({ companyId, stream }: StoredFact) => followed.get(keyOf(companyId, stream));
    const groups = Map.groupBy(facts, (fact) => `${fact.companyId} ${followedOf(fact)?.kind.name}`);
    for (const group of groups.values()) {
      const kind = followedOf(group[0]!)?.kind;
      if (!kind) continue;
      for (const part of await reader.partsOf(kind, group)) {
        await reader.show(kind, part);
        tell(part);
      }
    }
    const counts = Map.groupBy(facts, followedOf);
    return [...counts].flatMap(([one, own]) => (one && own.length === limit ? one : []));
  }

  /** They are in memory: whoever follows takes them from there. */
  function tell(facts: StoredFact[]): void {
    for (const [key, own] of Map.groupBy(facts, ({ companyId, stream }) => keyOf(companyId, stream))) {
      const one = followed.get(key);
      const { sequence } = own.at(-1)!;
      if (!one || one.position === undefined || one.position >= sequence) continue;
      one.position = sequence;
      for (const follower of one.followers) follower.wake();
    }
  }

  async function work(): Promise<void> {
    while (!stopping.signal.aborted) {
      const woken = wakeUps.take();
      let streams = woken === 'all' ? [...followed.values()] : woken.flatMap((key) => followed.get(key) ?? []);
      try {
        while (streams.length > 0) streams = await read(streams);
      } catch (error) {
        log.warn({ err: error }, 'events wait: they could not be read');
        nap.forget();
      }
      recent.prune();
      if (!(await nap.take(pollMs))) wakeUps.all();
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
    const { db } = database.forCompany(companyId);
    const stream = `${kind.name} ${subject}`;
    const key = keyOf(companyId, stream);
    const follower = createFollower(signal);
    const release = connection.admit(follower);
    const one = followed.get(key) ?? { companyId, subject, stream, kind, position: undefined, followers: new Set() };
    followed.set(key, one);
    // Before anything is read, so that nothing is lost between the table and memory.
    one.followers.add(follower);

    function leave(): void {
      release();
      one.followers.delete(follower);
      if (one.followers.size === 0 && followed.get(key) === one) followed.delete(key);
    }
    async function* events(end: number) {
      try {
        const sent = { db, clock, recent, reader, onSent: () => (countSent += 1) };
        yield* subscription(sent, kind, given, { follower, end, newest: () => one.position ?? 0 });
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
    countSent: () => countSent,
    start() {
      wakeUps.listen();
      loop ??= Promise.all([work(), guard()]);
    },
    async stop() {
      stopping.abort();
      nap.wake();
      await loop;
    },
  };
}
