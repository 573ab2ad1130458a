import { sql } from 'kysely';
import { compiled } from '../../db/pipeline/compiled.ts';
import type { Db } from '../../db/open.ts';
import { noteAppended } from './commit-signals.ts';
import { streamKey } from './streams.ts';

/** An event of a company, for the subscribers of one stream. */
export type NewEvent = {
  companyId: number;
  /** `task 12` for the comments on a task, `recipient 7` for a person's notifications. */
  stream: string;
  type: string;
  payload: Record<string, unknown>;
  at: Date;
};

/**
 * Appends an event to its stream, in the transaction of its cause; returns its sequence number. Sequence numbers are taken
 * under the stream's row lock, so they have no gaps and are in the order of commits.
 */
export async function appendEvent(db: Db, event: NewEvent): Promise<number> {
  const { companyId, stream, type, payload, at } = event;
  const [row] = await writeEvent(db, { companyId, stream, type, payload: JSON.stringify(payload), at });
  noteAppended(db, streamKey(companyId, stream));
  return row!.sequence;
}

/** Appends events to streams of one company in one statement; the events of a stream in the given order. */
export async function appendEvents(
  db: Db,
  companyId: number,
  events: readonly Omit<NewEvent, 'companyId'>[],
): Promise<void> {
  await sql`
    with given as materialized (
      select stream, type, payload, at, position,
        row_number() over (partition by stream order by position) - count(*) over (partition by stream) as from_last
      from unnest(
        ${events.map(({ stream }) => stream)}::text[], ${events.map(({ type }) => type)}::text[],
        ${events.map(({ payload }) => JSON.stringify(payload))}::text[], ${events.map(({ at }) => at)}::timestamptz[]
      ) with ordinality as events (stream, type, payload, at, position)
    ), taken as (
      insert into event_streams as s (company_id, stream, last_sequence)
      select ${companyId}::bigint, stream, count(*) from given group by stream order by stream
      on conflict (company_id, stream) do update set last_sequence = s.last_sequence + excluded.last_sequence
      returning stream, last_sequence
    )
    insert into events (company_id, stream, sequence, type, payload, at)
    select ${companyId}::bigint, stream, last_sequence + from_last, type, payload::jsonb, at
    from given join taken using (stream)`.execute(db);
  for (const { stream } of events) noteAppended(db, streamKey(companyId, stream));
}

type EventValues = Omit<NewEvent, 'payload'> & { payload: string };

const writeEvent = compiled<EventValues, { sequence: number }>((db, placeholder) =>
  sql<{ sequence: number }>`
    with taken as (
      insert into event_streams as s (company_id, stream, last_sequence)
      values (${placeholder('companyId')}, ${placeholder('stream')}, 1)
      on conflict (company_id, stream) do update set last_sequence = s.last_sequence + 1
      returning last_sequence
    )
    insert into events (company_id, stream, sequence, type, payload, at)
    select ${placeholder('companyId')}, ${placeholder('stream')}, last_sequence, ${placeholder('type')}, ${placeholder('payload')}::jsonb, ${placeholder('at')}
    from taken
    returning sequence`.compile(db),
);
