import { sql } from 'kysely';
import { compiled } from '../../db/compiled.ts';
import type { Db } from '../../db/open.ts';
import { transactionOf } from '../../db/scope.ts';
import { keyOf } from './streams.ts';

/** A fact about a company's things, told to the subscribers of one stream. */
export type Fact = {
  companyId: number;
  /** `task 12` for the talk on a task, `recipient 7` for a person's notifications. */
  stream: string;
  type: string;
  payload: Record<string, unknown>;
  at: Date;
};

/** Which streams got facts in a transaction: those who listen are woken when it has committed. */
const publishedIn = new WeakMap<Db, Set<string>>();

export function streamsPublishedIn(db: Db): string[] {
  return [...(publishedIn.get(transactionOf(db)) ?? [])];
}

/**
 * Writes a fact into its stream, in the transaction that makes it true, and answers its number there.
 * Numbers are taken under the lock of the stream's row, so they have no gaps and are in the order of commits.
 */
export async function publish(db: Db, fact: Fact): Promise<number> {
  const { companyId, stream, type, payload, at } = fact;
  const [row] = await writeFact(db, { companyId, stream, type, payload: JSON.stringify(payload), at });
  notePublished(db, companyId, [stream]);
  return row!.sequence;
}

/** Writes facts into streams of one company, in one statement; the facts of a stream in the order in which they are given. */
export async function publishAll(db: Db, companyId: number, facts: readonly Omit<Fact, 'companyId'>[]): Promise<void> {
  await sql`
    with given as materialized (
      select stream, type, payload, at, position,
        row_number() over (partition by stream order by position) - count(*) over (partition by stream) as from_last
      from unnest(
        ${facts.map(({ stream }) => stream)}::text[], ${facts.map(({ type }) => type)}::text[],
        ${facts.map(({ payload }) => JSON.stringify(payload))}::text[], ${facts.map(({ at }) => at)}::timestamptz[]
      ) with ordinality as facts (stream, type, payload, at, position)
    ), taken as (
      insert into event_streams as s (company_id, stream, last_sequence)
      select ${companyId}::bigint, stream, count(*) from given group by stream order by stream
      on conflict (company_id, stream) do update set last_sequence = s.last_sequence + excluded.last_sequence
      returning stream, last_sequence
    )
    insert into events (company_id, stream, sequence, type, payload, at)
    select ${companyId}::bigint, stream, last_sequence + from_last, type, payload::jsonb, at
    from given join taken using (stream)`.execute(db);
  notePublished(
    db,
    companyId,
    facts.map(({ stream }) => stream),
  );
}

function notePublished(db: Db, companyId: number, streams: readonly string[]): void {
  const transaction = transactionOf(db);
  const published = publishedIn.get(transaction) ?? new Set();
  for (const stream of streams) published.add(keyOf(companyId, stream));
  publishedIn.set(transaction, published);
}

type FactValues = Omit<Fact, 'payload'> & { payload: string };

const writeFact = compiled<FactValues, { sequence: number }>((db, blank) =>
  sql<{ sequence: number }>`
    with taken as (
      insert into event_streams as s (company_id, stream, last_sequence)
      values (${blank('companyId')}, ${blank('stream')}, 1)
      on conflict (company_id, stream) do update set last_sequence = s.last_sequence + 1
      returning last_sequence
    )
    insert into events (company_id, stream, sequence, type, payload, at)
    select ${blank('companyId')}, ${blank('stream')}, last_sequence, ${blank('type')}, ${blank('payload')}::jsonb, ${blank('at')}
    from taken
    returning sequence`.compile(db),
);
