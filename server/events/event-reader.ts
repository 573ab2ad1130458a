import { sql } from 'kysely';
import pLimit from 'p-limit';
import type { Database, Db } from '../../db/open.ts';
import type { Settings } from '../kernel/context.ts';
import { streamKey, type StoredEvent, type StreamEvent, type StreamKind } from '../kernel/streams.ts';
import { batchesOf } from '../kernel/wire/json-stream.ts';
import type { CachedEvent, EventCache } from './event-cache.ts';

/**
 * How many pages are read at once for subscribers who are behind, so that they delay neither each other nor other
 * statements.
 */
const pagesAtOnce = 4;

/** The limits of a batch, in events and bytes. An event that is longer than that is a batch by itself. */
const batchSize = 100;
const batchBytesMax = 256 * 1024;
/** The size of so few events is not estimated: that would cost more than it could save. */
const unestimatedMax = 4;

/** The position of a subscriber in a stream. */
export type Cursor = { companyId: number; stream: string; position: number };

export type EventReader = {
  /** Splits events of one company into batches that fit into memory. */
  toBatches<Event extends StreamEvent>(kind: StreamKind<Event>, stored: StoredEvent[]): Promise<StoredEvent[][]>;
  /** Builds what subscribers receive from one batch, and caches it. */
  load<Event extends StreamEvent>(kind: StreamKind<Event>, batch: StoredEvent[]): Promise<CachedEvent<Event>[]>;
  /**
   * The next batch after a cursor; empty if the next event is no longer stored. If the next event has been cached in
   * the meantime, the batch is that event alone.
   */
  readNext<Event extends StreamEvent>(kind: StreamKind<Event>, cursor: Cursor): Promise<CachedEvent<Event>[]>;
};

export function createEventReader(
  { database, settings }: { database: Database; settings: Settings },
  cache: EventCache,
): EventReader {
  const limit = pLimit(pagesAtOnce);

  async function toBatches<Event extends StreamEvent>(kind: StreamKind<Event>, stored: StoredEvent[]) {
    const [first] = stored;
    if (!first || stored.length <= unestimatedMax) return first ? [stored] : [];
    const { db } = database.forCompany(first.companyId);
    const bytes = (await kind.estimateBytes?.(db, first.companyId, stored)) ?? [];
    const sizes = { countMax: batchSize, weightMax: batchBytesMax };
    return [...batchesOf(stored.keys(), (index) => bytes[index] ?? 0, sizes)].map((batch) =>
      batch.map((index) => stored[index]!),
    );
  }

  async function load<Event extends StreamEvent>(kind: StreamKind<Event>, batch: StoredEvent[]) {
    const [first] = batch;
    if (!first) return [];
    const { db } = database.forCompany(first.companyId);
    const events = await kind.toEvents({ db, settings }, first.companyId, batch);
    return events.map((event, index) => {
      const { companyId, stream } = batch[index]!;
      return cache.add(streamKey(companyId, stream), kind.event.parse(event));
    });
  }

  async function readNext<Event extends StreamEvent>(kind: StreamKind<Event>, cursor: Cursor) {
    const { companyId, stream, position } = cursor;
    const cached = cache.find<Event>(streamKey(companyId, stream), position + 1);
    if (cached) return [cached];
    const stored = await listEvents(database.forCompany(companyId).db, [cursor], batchSize);
    if (stored[0]?.sequence !== position + 1) return [];
    const [next = []] = await toBatches(kind, stored);
    return load(kind, next);
  }

  return { toBatches, load, readNext: (kind, cursor) => limit(() => readNext(kind, cursor)) };
}

/** The number of the last event of a stream; 0 if there is none. */
export async function findLastSequence(db: Db, companyId: number, stream: string): Promise<number> {
  const row = await db
    .selectFrom('event_streams')
    .where('company_id', '=', companyId)
    .where('stream', '=', stream)
    .select('last_sequence')
    .executeTakeFirst();
  return row?.last_sequence ?? 0;
}

/** The next events after each cursor, up to `limit` of each stream, in one statement. */
export async function listEvents(db: Db, cursors: Cursor[], limit: number): Promise<StoredEvent[]> {
  const { rows } = await sql<StoredEvent>`
    select e.company_id as "companyId", e.stream, e.sequence, e.type, e.payload, e.at
    from unnest(
      ${cursors.map((one) => one.companyId)}::bigint[],
      ${cursors.map((one) => one.stream)}::text[],
      ${cursors.map((one) => one.position)}::bigint[]
    ) as c (company_id, stream, position)
    cross join lateral (
      select f.company_id, f.stream, f.sequence, f.type, f.payload, f.at from events as f
      where f.company_id = c.company_id and f.stream = c.stream and f.sequence > c.position
      order by f.sequence limit ${limit}
    ) as e
    order by e.company_id, e.stream, e.sequence`.execute(db);
  return rows;
}
